/** The live list in a real browser: it moves by itself, can be paused, ends with the session. */
import assert from "node:assert/strict";
import { CHROMIUM, openTab, withBrowser } from "../support/console/chromium.ts";
import {
  ADMIN_TOKEN,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import type { Page } from "../support/console/playwright.d.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";

const MARKUP = `<img src=x onerror="alert(1)"><b>bold</b>`;

/** A stream that goes on until the returned function ends it. */
async function openStream(
  gateway: TestGateway,
): Promise<{ readonly id: string; end(): Promise<void> }> {
  const client = new AbortController();
  const reply = await gateway.post(
    "/v1/messages",
    {
      model: "vendora-opus-4-8",
      max_tokens: 50,
      stream: true,
      messages: [{ role: "user", content: "[[fx:slow?ms=60000]]" }],
    },
    {},
    client.signal,
  );
  return {
    id: reply.headers.get("request-id") ?? "",
    async end() {
      client.abort();
      await reply.body?.cancel().catch(() => {});
    },
  };
}

const shownCount = (page: Page): Promise<unknown> =>
  page.evaluate("document.querySelector('[data-live]').dataset.liveShown");

Deno.test({
  name:
    "the live list shows a hung stream and its end, texts of callers as text, stops while it is paused, and ends with the session",
  ignore: CHROMIUM === undefined,
  async fn() {
    await using gateway = await startConsole();
    const { url } = gateway;
    await withBrowser(async (browser) => {
      const { page, context, complaints } = await openTab(browser);
      const operator = await visit(url, "operator", ADMIN_TOKEN);
      const account = await visit(url, "key", TEST_KEY);
      for (const { cookie } of [operator, account]) {
        const [name = "", value = ""] = cookie.split("=");
        await context.addCookies([{ name, value, url }]);
      }
      await page.goto(`${url}/console/operator/live`);
      await page.getByText("Live.", { exact: true }).waitFor();
      const stream = await openStream(gateway);
      await page.getByText(stream.id, { exact: true }).waitFor();
      // Its row is made anew with every picture, and keeps the keyboard's focus.
      const link = page.locator(`a[href$="${stream.id}"]`);
      await link.focus();
      const seen = await shownCount(page);
      await page.locator(`[data-live]:not([data-live-shown="${seen}"])`)
        .waitFor();
      assert.match(
        String(await page.evaluate("document.activeElement.href")),
        new RegExp(`${stream.id}$`),
      );
      // The page of a call shows it while it is under way, and when it has ended.
      const call = await context.newPage();
      await call.goto(
        `${url}${await link.getAttribute("href")}`,
      );
      await call.getByText("The call is under way").waitFor();
      await stream.end();
      await gateway.logEntry((entry) => entry.request_id === stream.id);
      await call.getByRole("link", { name: "Refresh" }).click();
      await call.getByText("client left").first().waitFor();
      await call.close();
      await page.locator(`[data-live-ended] a[href$="${stream.id}"]`).waitFor();
      const refused = await gateway.call({ model: MARKUP });
      await refused.body?.cancel();
      await page.getByText(MARKUP, { exact: true }).waitFor();
      assert.equal(await page.locator("main img, main b").count(), 0);

      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("Paused.", { exact: true }).waitFor();
      const shown = await shownCount(page);
      const next = await openStream(gateway);
      await gateway.gateway.live.look({});
      assert.equal(await shownCount(page), shown);
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByText(next.id, { exact: true }).waitFor();

      // The account's pages show its own calls in the same way.
      await page.goto(`${url}/console/calls`);
      await page.getByText(next.id, { exact: true }).waitFor();
      await page.goto(`${url}/console/connect`);
      await page.getByText("404 model not found").first()
        .waitFor();
      await page.getByText(next.id, { exact: true }).waitFor();
      await next.end();
      await page.locator(`[data-live-ended] a[href$="${next.id}"]`).waitFor();
      assert.deepEqual(complaints.splice(0), []);

      await page.goto(`${url}/console/operator/live`);
      await page.getByText("Live.", { exact: true }).waitFor();
      const out = await operator.post("/console/operator/sign-out");
      await out.body?.cancel();
      await page.getByText("The session has ended: sign in again.").waitFor();
    });
  },
});
