/** The pages in a real browser: tasks, keyboard, no JavaScript, accessibility, markup. */
import assert from "node:assert/strict";
import { STYLE } from "../../routes/console/assets/style.ts";
import {
  accessibilityFaults,
  brokenWords,
  CHROMIUM,
  openTab,
  scrollsSideways,
  type Tab,
  withBrowser,
} from "../support/console/chromium.ts";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import type { Browser, Page } from "../support/console/playwright.d.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

const MARKUP = `<img src=x onerror="alert(1)"><b>"bold"</b>`;

/** An account with a plan, a balance, keys and calls; markup wherever a caller chooses a text. */
async function fill(gateway: TestGateway): Promise<{ readonly key: string }> {
  const { admin } = gateway.accounts;
  await admin.plans.create({
    id: "team",
    requestsPerMinute: 600,
    concurrentRequests: 8,
    spendPerDayMicroUsd: 20_000_000,
  });
  await admin.accounts.create({
    id: "search",
    name: MARKUP,
    planId: "team",
    billing: "prepaid",
  });
  await admin.accounts.topUp("search", { microUsd: 20_000_000, note: MARKUP });
  const { text: key = "" } = await admin.keys.issue({
    accountId: "search",
    name: MARKUP,
  });
  for (const model of ["vendora-opus-4-8", "vendorb-5.5", MARKUP]) {
    const reply = await gateway.post("/v1/messages", {
      model,
      max_tokens: 100,
      metadata: { user_id: MARKUP },
      messages: [{ role: "user", content: "Hello" }],
    }, { "x-api-key": key });
    await reply.text();
  }
  await gateway.accounts.flush();
  return { key };
}

async function useSession(
  { context }: Tab,
  { cookie }: Visitor,
  url: string,
): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, url }]);
}

/** Opens a tab in a visitor's session. */
async function openAs(
  browser: Browser,
  { url }: TestGateway,
  visitor: Visitor,
  options: Parameters<typeof openTab>[1] = {},
): Promise<Tab> {
  const tab = await openTab(browser, options);
  await useSession(tab, visitor, url);
  return tab;
}

type BrowserTest = (browser: Browser, gateway: TestGateway) => Promise<void>;
const tests = new Map<string, BrowserTest>();

const browserTest = (name: string, run: BrowserTest): void => {
  tests.set(name, run);
};

const ACCOUNT_PAGES: readonly string[] = [
  "/console/",
  "/console/usage",
  "/console/usage?by=key",
  "/console/usage?by=user&at=vendorb-5",
  "/console/calls",
  "/console/calls?outcome=invalid",
  "/console/keys",
  "/console/keys/new",
  "/console/models",
  "/console/models/vendora-opus-4-8",
  "/console/connect/codex",
  "/console/try",
  "/console/ledger",
  "/console/statement",
  "/console/access",
  "/console/changes",
  "/console/nothing",
];
const OPERATOR_PAGES: readonly string[] = [
  "/console/operator/",
  "/console/operator/live",
  "/console/operator/upstreams",
  "/console/operator/attempts",
  "/console/operator/usage",
  "/console/operator/accounts",
  "/console/operator/accounts/search",
  "/console/operator/accounts/new",
  "/console/operator/accounts/many",
  "/console/operator/accounts/revoke-keys/search",
  "/console/operator/find?q=sea",
  "/console/operator/models",
  "/console/operator/models/vendora-opus-4-8",
  "/console/operator/webhooks",
  "/console/operator/operators",
  "/console/operator/operators/new",
  "/console/operator/webhooks/search",
  "/console/operator/accounts/change/search",
  "/console/operator/accounts/token/search",
  "/console/operator/accounts/key/search",
  "/console/operator/plans",
  "/console/operator/plans/new",
  "/console/operator/plans/team",
  "/console/operator/keys",
  "/console/operator/calls",
  "/console/operator/ledger",
  "/console/operator/statement?account=search",
  "/console/operator/reconcile",
  "/console/operator/changes",
  "/console/operator/settings",
];

browserTest(
  "no page has an accessibility fault, scrolls sideways, shows markup as markup or makes the browser complain",
  async (browser, gateway) => {
    const { url } = gateway;
    const { key } = await fill(gateway);
    const manage = await visitAs(gateway, "manage", "search");
    const operator = await visitAs(gateway, "operator");
    const own = await visit(url, "key", key);
    const shots = Deno.env.get("SCREENSHOTS");
    for (const width of [1280, 375]) {
      const tab = await openTab(browser, { viewport: { width, height: 900 } });
      for (
        const [visitor, paths] of [
          [manage, ACCOUNT_PAGES],
          [own, ["/console/key"]],
          [operator, OPERATOR_PAGES],
          [undefined, ["/console/sign-in", "/console/operator/sign-in"]],
        ] as const
      ) {
        if (visitor !== undefined) await useSession(tab, visitor, url);
        for (const path of paths) {
          const at = `${path} at ${width}`;
          await tab.page.goto(`${url}${path}`);
          assert.equal(
            /^(?:Not found|Sign in) /.test(await tab.page.title()),
            path === "/console/nothing" || path === "/console/sign-in",
            at,
          );
          for (
            const [colorScheme, rules] of [
              ["light", "all"],
              ["dark", "colours"],
            ] as const
          ) {
            await tab.page.emulateMedia({ colorScheme });
            assert.deepEqual(
              await accessibilityFaults(tab.page, rules),
              [],
              `${at}, ${colorScheme}`,
            );
            if (shots !== undefined) {
              await tab.page.screenshot({
                path: `${shots}/${
                  path.replaceAll(/\W+/g, "_")
                }-${width}-${colorScheme}.png`,
                fullPage: true,
              });
            }
          }
          assert.equal(await scrollsSideways(tab.page), false, at);
          // Markup of callers, and rows without a header.
          assert.equal(
            await tab.page.locator(
              "img, b b, tbody tr:not(:has(th[scope=row]))",
            ).count(),
            0,
            at,
          );
          // The browser reports the status of a page that is not found.
          assert.deepEqual(
            tab.complaints.splice(0).filter((text) => !/\b404\b/.test(text)),
            [],
            at,
          );
          if (width === 375) {
            await tab.page.setViewportSize({ width: 320, height: 900 });
            assert.equal(
              await scrollsSideways(tab.page),
              false,
              `${path} at 320`,
            );
            assert.deepEqual(await brokenWords(tab.page), [], `${path} at 320`);
            await tab.page.setViewportSize({ width, height: 900 });
          }
        }
      }
      await tab.context.close();
    }
  },
);

browserTest(
  "markup in an address, a field's name or a token's name is text",
  async (browser, gateway) => {
    const { url } = gateway;
    const { key } = await fill(gateway);
    const { admin } = gateway.accounts;
    const { text = "" } = await admin.tokens.issue({
      accountId: "search",
      scope: "manage",
      name: MARKUP,
    });
    const call = await gateway.post("/v1/messages", {
      model: "vendorb-5.5",
      max_tokens: 100,
      [MARKUP]: 1,
      messages: [{ role: "user", content: "[[fx:status?code=500]]" }],
    }, { "x-api-key": key });
    await call.text();
    await gateway.recorded();
    const at = encodeURIComponent(MARKUP);
    const tab = await openAs(
      browser,
      gateway,
      await visit(url, "manage", text),
    );
    for (
      const path of [
        `calls/${call.headers.get("request-id")}`,
        `calls/${at}`,
        `find?q=${at}`,
        `calls?model=${at}&key=${at}&code=${at}&user=${at}&from=${at}`,
        `usage?model=${at}&key=${at}`,
        `usage?by=${at}`,
        `usage?from=${at}`,
        `ledger?key=${at}&request_id=${at}&kind=${at}`,
        `keys?after=${at}&revoked=${at}`,
        `keys/rotate/${at}`,
        `connect/${at}`,
        "access",
        at,
      ]
    ) {
      await tab.page.goto(`${url}/console/${path}`);
      assert.equal(await tab.page.locator("h1").count(), 1, path);
      assert.equal(
        await tab.page.locator("img, b b, main a[href*=onerror] b").count(),
        0,
        path,
      );
    }
    // The browser reports the status of a page that is not found, or refused.
    assert.deepEqual(
      tab.complaints.filter((one) => !/status of 40[04]/.test(one)),
      [],
    );
    await tab.context.close();
  },
);

browserTest(
  "a sign-in link opens with one press, and only once",
  async (browser, gateway) => {
    const { url } = gateway;
    const { text } = await gateway.accounts.admin.signInCodes.create({
      accountId: "default",
      scope: "manage",
    });
    const open = async (): Promise<Tab> => {
      const tab = await openTab(browser);
      await tab.page.goto(`${url}/console/sign-in#${text}`);
      await tab.page.getByRole("button", { name: "Open" }).click();
      return tab;
    };
    const first = await open();
    await first.page.waitForURL(`${url}/console/`);
    assert.match(await first.page.content(), /No calls yet/);
    const second = await open();
    await second.page.getByText(/This code is unknown, was used/).waitFor();
    assert.ok(!(await second.page.content()).includes(text));
    await first.context.close();
    await second.context.close();
  },
);

browserTest(
  "copying puts the key into the clipboard, and selects it where there is none",
  async (browser, gateway) => {
    const { url } = gateway;
    const manage = await visitAs(gateway, "manage");
    const made = async (tab: Tab): Promise<{ page: Page; key: string }> => {
      await tab.page.goto(`${url}/console/keys/new`);
      await tab.page.getByLabel("Name").fill("x");
      await tab.page.getByRole("button", { name: "Make the key" }).click();
      const key = await tab.page.getByLabel("The new key").inputValue();
      return { page: tab.page, key };
    };
    const allowed = await openAs(browser, gateway, manage);
    await allowed.context.grantPermissions([
      "clipboard-read",
      "clipboard-write",
    ]);
    const one = await made(allowed);
    await one.page.getByRole("button", { name: "Copy" }).first().click();
    await one.page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(
      await one.page.evaluate("navigator.clipboard.readText()"),
      one.key,
    );
    const denied = await openAs(browser, gateway, manage);
    const other = await made(denied);
    await other.page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
    );
    await other.page.getByRole("button", { name: "Copy" }).first().click();
    await other.page.getByRole("button", { name: /Selected/ }).waitFor();
    assert.equal(
      await other.page.evaluate(
        "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)",
      ),
      other.key,
    );
    await allowed.context.close();
    await denied.context.close();
  },
);

browserTest(
  "a form keeps its input when it is wrong and when its session has ended, and a double click sends it once",
  async (browser, gateway) => {
    const { url } = gateway;
    const { text } = await credentialOf(gateway, "manage");
    const { page, context } = await openAs(
      browser,
      gateway,
      await visit(url, "manage", text),
    );
    const press = (name: string): Promise<void> =>
      page.getByRole("button", { name }).click();
    await page.goto(`${url}/console/keys/new`);
    const name = page.getByLabel("Name");
    await name.fill("crawler");
    await page.getByText("Limits of this key").click();
    await page.getByLabel("Requests per minute").fill("-5");
    await press("Make the key");
    await page.getByText("Requests per minute: must be").waitFor();
    assert.equal(await name.inputValue(), "crawler");
    await page.goto(`${url}/console/keys/new`);
    await name.fill("crawler");
    await context.clearCookies();
    await press("Make the key");
    await page.getByText("Sign in, which opens another tab").waitFor();
    await page.getByLabel("Key, token or code").fill(text);
    const opened = context.waitForEvent("page");
    await press("Sign in");
    await (await opened).waitForURL(`${url}/console/`);
    await page.goBack();
    assert.equal(await name.inputValue(), "crawler");
    // What a page that the browser kept after its form was sent sees when Back shows it again.
    await page.evaluate(
      `for (const form of document.forms) form.dataset.sent = "yes";
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`,
    );
    await page.getByRole("button", { name: "Make the key" }).dblclick();
    await page.getByText("This is the only time").waitFor();
    const { data } = await gateway.accounts.admin.keys.list({
      accountId: "default",
    });
    assert.deepEqual(data.map((key) => key.name), ["crawler"]);
    await page.goto(`${url}/console/keys`);
    await press("Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goBack();
    await page.getByText("sign in to see this page").waitFor();
    assert.ok(!(await page.content()).includes("crawler"));
    await context.close();
  },
);

browserTest(
  "a form on another port of the same host is sent with the cookie and refused",
  async (browser, gateway) => {
    const { url } = gateway;
    const tab = await openAs(
      browser,
      gateway,
      await visitAs(gateway, "manage"),
    );
    let sent = "";
    const evil = serveLoopback((request) => {
      sent = request.headers.get("cookie") ?? "";
      return new Response(
        `<form method="post" action="${url}/console/keys/new"><input name="name" value="theirs"></form><script>document.forms[0].submit()</script>`,
        { headers: { "content-type": "text/html" } },
      );
    });
    try {
      await tab.page.goto(`http://127.0.0.1:${evil.addr.port}/`);
      await tab.page.getByText(
        "this form was not sent by a page of this console",
      )
        .waitFor();
      assert.match(sent, /^console=/);
      assert.deepEqual(
        (await gateway.accounts.admin.keys.list({ accountId: "default" })).data,
        [],
      );
    } finally {
      await tab.context.close();
      await evil.shutdown();
    }
  },
);

browserTest(
  "usage shows the same sums far east and far west",
  async (browser, gateway) => {
    await fill(gateway);
    // Otherwise they are written a second later, between the two pages.
    await gateway.recorded();
    const manage = await visitAs(gateway, "manage", "search");
    const texts: string[] = [];
    for (const timezoneId of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      const tab = await openAs(browser, gateway, manage, { timezoneId });
      await tab.page.goto(`${gateway.url}/console/usage`);
      texts.push(await tab.page.locator("main").innerText());
      await tab.context.close();
    }
    assert.equal(texts[0], texts[1]);
  },
);

browserTest(
  "a prompt is tried with a pasted key, and the key is in no request of the console",
  async (browser, gateway) => {
    const { url } = gateway;
    const { key } = await fill(gateway);
    const tab = await openAs(browser, gateway, await visit(url, "key", key));
    const { page } = tab;
    await page.goto(`${url}/console/try`);
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/Cost \$0\.\d{6}: req_/).waitFor();
    await page.getByRole("link", { name: /^req_/ }).waitFor();
    assert.notEqual(await page.locator("[data-reply-text]").innerText(), "");
    assert.deepEqual(tab.complaints, []);
    await tab.context.close();
  },
);

browserTest(
  "amounts of 100 million dollars are in one piece, text grows with the reader's size, and forced colours keep the height of bars",
  async (browser, gateway) => {
    const { url, accounts: { admin } } = gateway;
    await fill(gateway);
    await admin.accounts.topUp("search", { microUsd: 987_654_321_120_000 });
    const manage = await visitAs(gateway, "manage", "search");
    for (const width of [1280, 700, 320]) {
      const tab = await openAs(browser, gateway, manage, {
        viewport: { width, height: 900 },
        forcedColors: "active",
      });
      await tab.page.goto(`${url}/console/`);
      assert.match(
        await tab.page.locator(".stat").first().innerText(),
        /^\$987,654,3\d\d\.\d\d$/,
      );
      assert.deepEqual(
        await tab.page.evaluate(
          "[...document.querySelectorAll('.stat data')].map((one) => one.getClientRects().length)",
        ),
        Array(5).fill(1),
        `lines of each amount at ${width}`,
      );
      // The area that a pointer hits covers the whole height of the plot.
      assert.deepEqual(
        await tab.page.evaluate(
          "[...new Set([...document.querySelectorAll('.plot rect:not([class])')].map((one) => getComputedStyle(one).fill))]",
        ),
        ["rgba(0, 0, 0, 0)"],
      );
      await tab.page.evaluate(
        "document.documentElement.style.fontSize = '200%'",
      );
      assert.equal(
        await tab.page.evaluate("getComputedStyle(document.body).fontSize"),
        "30px",
      );
      assert.equal(await scrollsSideways(tab.page), false, `at ${width}`);
      await tab.context.close();
    }
  },
);

browserTest(
  "the values of a bar stand below its plot on hover and focus, and at the first touch, whatever the plot shows",
  async (browser, gateway) => {
    const key = await credentialOf(gateway, "key");
    const reply = await gateway.call({ model: "vendorb-5.5" }, key.text);
    await reply.text();
    await gateway.recorded();
    const reader = await visitAs(gateway, "read");
    for (const hasTouch of [false, true]) {
      const tab = await openAs(browser, gateway, reader, { hasTouch });
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
  },
);

browserTest(
  "with and without JavaScript a wrong field has the focus, and once corrected the form is taken",
  async (browser, gateway) => {
    await fill(gateway);
    const operator = await visitAs(gateway, "operator");
    const accounts = `${gateway.url}/console/operator/accounts`;
    for (const javaScriptEnabled of [true, false]) {
      const id = javaScriptEnabled ? "one" : "two";
      const { page, context } = await openAs(browser, gateway, operator, {
        javaScriptEnabled,
      });
      await page.goto(`${accounts}/new`);
      await page.locator(".form input[name=id]").fill("bad id!");
      await page.locator(".form input[name=name]").fill("Search team");
      await page.locator("select[name=plan]").selectOption("team");
      await page.getByRole("button", { name: "Create" }).click();
      const wrong = page.locator("[aria-invalid=true]");
      await wrong.waitFor();
      assert.equal(await page.locator(":focus").inputValue(), "bad id!");
      await wrong.fill(id);
      await page.getByRole("button", { name: "Create" }).click();
      await page.waitForURL(`${accounts}/${id}`);
      const { name, planId } = await gateway.accounts.admin.accounts.get(id);
      assert.deepEqual([name, planId], ["Search team", "team"]);
      await context.close();
    }
  },
);

browserTest(
  "the page scrolls and not a box in it, heads stay, and on a phone a row is a card with its state first",
  async (browser, gateway) => {
    await fill(gateway);
    for (let at = 0; at < 60; at++) {
      await gateway.accounts.admin.keys.issue({ accountId: "search" });
    }
    await gateway.recorded();
    const operator = await visitAs(gateway, "operator");
    const area = `${gateway.url}/console/operator`;
    const tab = await openAs(browser, gateway, operator, {
      viewport: { width: 1440, height: 900 },
    });
    for (const path of ["keys", "accounts", "calls", "upstreams"]) {
      await tab.page.goto(`${area}/${path}`);
      assert.deepEqual(
        await tab.page.evaluate(
          "[...document.querySelectorAll('main *')].filter((one) => one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY)).map((one) => one.className)",
        ),
        [],
        path,
      );
    }
    await tab.page.goto(`${area}/keys`);
    assert.equal(
      await tab.page.evaluate(
        "(window.scrollTo(0, 1200), document.querySelector('th').getBoundingClientRect().top)",
      ),
      0,
    );
    assert.deepEqual(
      await tab.page.evaluate(
        "[...document.querySelectorAll('tbody a')].reverse().filter((one) => { one.focus(); const { left, top, height } = one.getClientRects()[0]; return !one.contains(document.elementFromPoint(left + 3, top + height / 2)); }).map((one) => one.textContent)",
      ),
      [],
      "links that have the focus below the head of the table",
    );
    await tab.page.goto(`${area}/usage?by=model`);
    for (const width of [1280, 1024]) {
      await tab.page.setViewportSize({ width, height: 900 });
      assert.deepEqual(
        await tab.page.evaluate(
          "[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)",
        ),
        [0, 0],
        `usage at ${width}`,
      );
    }
    await tab.context.close();
    const phone = await openAs(browser, gateway, operator, {
      viewport: { width: 375, height: 800 },
    });
    for (const path of ["keys", "upstreams", "calls", "accounts"]) {
      await phone.page.goto(`${area}/${path}`);
      assert.deepEqual(
        await phone.page.evaluate(
          "(() => { const box = document.querySelector('.scroll'); const tag = box.querySelector('td .tag').getBoundingClientRect(); const row = box.querySelector('tbody tr').getBoundingClientRect(); return [box.scrollWidth <= box.clientWidth, tag.top - row.top < 60, tag.right <= 375]; })()",
        ),
        [true, true, true],
        path,
      );
    }
    await phone.page.goto(`${area}/usage`);
    assert.deepEqual(
      await phone.page.evaluate(
        "[...document.querySelectorAll('.plot .grid + text')].map((one) => one.getBoundingClientRect()).map(({ left, right }) => left > 0 && right <= 375)",
      ),
      [true, true, true],
      "the scale of the plot",
    );
    await phone.context.close();
  },
);

Deno.test({
  name: "pages in a browser",
  ignore: CHROMIUM === undefined,
  fn: (t) =>
    withBrowser(async (browser) => {
      for (const [name, run] of tests) {
        await t.step({
          name,
          // The browser is open before and after; the test around the steps sees what stays.
          sanitizeOps: false,
          sanitizeResources: false,
          async fn() {
            await using gateway = await startConsole();
            await run(browser, gateway);
          },
        });
      }
    }),
});

Deno.test("the style sheet stays under 8 KB", () => {
  assert.ok(new TextEncoder().encode(STYLE).length < 8192);
});
