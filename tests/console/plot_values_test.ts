/** The values of a bar, in a real browser: with the pointer, with the keyboard, and by touch. */
import assert from "node:assert/strict";
import { CHROMIUM, openTab, withBrowser } from "../support/console/chromium.ts";
import {
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";

Deno.test({
  name:
    "the values of a bar stand below its plot on hover and focus, and at the first touch, whatever the plot shows",
  ignore: CHROMIUM === undefined,
  async fn() {
    await using gateway = await startConsole();
    const key = await credentialOf(gateway, "key");
    const reply = await gateway.call({ model: "vendorb-5.5" }, key.text);
    await reply.text();
    await gateway.recorded();
    const { cookie } = await visitAs(gateway, "read");
    const [name = "", value = ""] = cookie.split("=");
    await withBrowser(async (browser) => {
      for (const hasTouch of [false, true]) {
        const tab = await openTab(browser, { hasTouch });
        await tab.context.addCookies([{ name, value, url: gateway.url }]);
        const { page } = tab;
        for (const shown of ["cost", "calls", "errors", "first_token"]) {
          const address = `${gateway.url}/console/usage?by=model&show=${shown}`;
          await page.goto(address);
          await page.waitForLoadState("load");
          const bars = page.locator(".plot a");
          const values = page.locator(".plot [data-values]");
          assert.equal(await bars.count(), 30, shown);
          const labelOf = async (at: number): Promise<string> =>
            await bars.nth(at).getAttribute("aria-label") ?? "";
          // Without the script the last day stands there.
          assert.equal(await values.innerText(), await labelOf(29));
          if (!hasTouch) {
            await bars.nth(3).hover();
            assert.equal(await values.innerText(), await labelOf(3));
            await bars.nth(4).focus();
            assert.equal(await values.innerText(), await labelOf(4));
            await page.keyboard.press("Tab");
            assert.equal(await values.innerText(), await labelOf(5));
            continue;
          }
          await bars.nth(6).tap();
          assert.equal(await values.innerText(), await labelOf(6));
          assert.equal(page.url(), address, "the first touch shows");
          await bars.nth(6).tap();
          await page.waitForURL(/\/console\/(?:ledger|calls)\?/);
        }
        assert.deepEqual(tab.complaints, []);
        await tab.context.close();
      }
    });
  },
});
