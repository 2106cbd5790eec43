/**
 * What people come to the console for, in a real browser: with the pointer, with the keyboard
 * alone, and without JavaScript. Pictures of each step are in `screenshots/`.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  accessibilityFaults,
  CHROMIUM,
  openTab,
  scrollsSideways,
  type Tab,
  withBrowser,
} from "../support/console/chromium.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import type { Page } from "../support/console/playwright.d.ts";

const SCREENSHOTS = new URL("../../screenshots/", import.meta.url);

/** How a person uses a page. */
interface Hands {
  press(role: "link" | "button", name: string): Promise<void>;
  enter(label: string, text: string): Promise<void>;
  /** Opens a page of the navigation; `key` follows `g`. */
  open(name: string, key: string): Promise<void>;
  /** Finds a call by its request id. */
  find(id: string): Promise<void>;
}

function pointer({ page }: Tab): Hands {
  const press: Hands["press"] = (role, name) =>
    page.getByRole(role, { name, exact: true }).first().click();
  return {
    press,
    enter: (label, text) => page.getByLabel(label).first().fill(text),
    open: (name) => press("link", name),
    async find(id) {
      await page.getByRole("searchbox").fill(id);
      await page.getByRole("searchbox").press("Enter");
    },
  };
}

/** What a screen reader calls the focused element. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  return (one.getAttribute("aria-label") ?? one.labels?.[0]?.firstChild?.textContent ?? one.innerText ?? "").trim();
})()`;

function keyboard({ page }: Tab): Hands {
  const reach = async (name: string): Promise<void> => {
    // A page may have put the focus where it is needed.
    if (await page.evaluate(FOCUSED) === name) return;
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(FOCUSED);
      if (focused === name) return;
      if (focused === "Skip to the page") await page.keyboard.press("Enter");
    }
    assert.fail(`the key Tab does not reach ${name}`);
  };
  return {
    async press(_role, name) {
      await reach(name);
      await page.keyboard.press("Enter");
    },
    async enter(label, text) {
      await reach(label);
      await page.keyboard.type(text);
    },
    async open(_name, key) {
      // Letters belong to a field that has the focus.
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("g");
      await page.keyboard.press(key);
    },
    async find(id) {
      await page.keyboard.press("/");
      await page.keyboard.type(id);
      await page.keyboard.press("Enter");
    },
  };
}

/** An account with a plan, calls and a refused call; each run has one of its own. */
interface World {
  readonly gateway: TestGateway;
  readonly accountId: string;
  readonly token: string;
  readonly key: string;
  readonly refusedId: string;
}

async function worldOf(
  gateway: TestGateway,
  accountId: string,
): Promise<World> {
  const { admin } = gateway.accounts;
  const { id: planId } = await admin.plans.create({
    models: ["vendora-opus-4-8", "vendorb-5.5"],
    spendPerDayMicroUsd: 20_000_000,
  });
  await admin.accounts.create({ id: accountId, planId, billing: "prepaid" });
  await admin.accounts.topUp(accountId, { microUsd: 20_000_000 });
  const { text: key = "" } = await admin.keys.issue({ accountId, name: "ci" });
  const ids: string[] = [];
  for (const model of ["vendora-opus-4-8", "vendorb-5.5", "vendorc-3-pro"]) {
    const reply = await gateway.call({ model }, key);
    await reply.text();
    ids.push(reply.headers.get("request-id") ?? "");
  }
  await gateway.accounts.flush();
  const { text: token } = await credentialOf(gateway, "manage", accountId);
  return { gateway, accountId, token, key, refusedId: ids[2] ?? "" };
}

async function statusOf({ gateway }: World, key: string): Promise<number> {
  const reply = await fetch(`${gateway.url}/v1/models`, {
    headers: { "x-api-key": key },
  });
  await reply.body?.cancel();
  return reply.status;
}

/** A person with a tab, in one of the runs. */
interface Person {
  readonly world: World;
  readonly tab: Tab;
  readonly page: Page;
  readonly hands: Hands;
  readonly run: string;
}

function personOf(
  run: string,
  world: World,
  tab: Tab,
  hands: Hands = pointer(tab),
): Person {
  return { world, tab, page: tab.page, hands, run };
}

/** Waits until a page has opened; one with a picture must be accessible and not scroll sideways. */
async function arrive(
  { page, run }: Person,
  heading: string,
  picture?: string,
): Promise<void> {
  await page.getByRole("heading", { name: heading, exact: true }).first()
    .waitFor();
  // Only then has the script run, which listens to the keyboard.
  await page.waitForLoadState("load");
  if (picture === undefined) return;
  if (run === "pointer" || run === "operator") {
    assert.deepEqual(await accessibilityFaults(page), [], picture);
  }
  assert.equal(await scrollsSideways(page), false, picture);
  await page.screenshot({
    path: new URL(`${run}-${picture}.png`, SCREENSHOTS).pathname,
    fullPage: true,
  });
}

function textOf({ page }: Person): Promise<string> {
  return page.locator("main").innerText();
}

/** 1: does my key work, what is left, what may I call? */
async function signIn(person: Person, credential: string): Promise<void> {
  const { hands, page, world: { gateway } } = person;
  await page.goto(`${gateway.url}/console/sign-in`);
  await hands.enter("Key, token or code", credential);
  await hands.press("button", "Sign in");
  await arrive(person, "Overview", "1-overview");
  const text = await textOf(person);
  assert.match(text, /\$19\.99\d\d/);
  assert.match(text, /Stops you first/);
  assert.match(
    text,
    /2 of \d+ models may be called\s+Models\s+vendora-opus-4-8, vendorb-5\.5/,
  );
}

async function readModels(person: Person): Promise<void> {
  await person.hands.open("Models", "m");
  await arrive(person, "Models", "1-models");
  const text = await textOf(person);
  assert.match(text, /vendora-opus-4-8\s+yes\s+well/);
  assert.match(text, /vendorc-3-pro\s+not in the plan/);
}

/** 2: what did we spend, by model and key? */
async function readUsage(person: Person): Promise<void> {
  await person.hands.open("Usage", "u");
  await arrive(person, "Usage");
  await person.hands.press("link", "By key");
  await person.page.getByRole("link", { name: "ci", exact: true }).waitFor();
  await arrive(person, "Usage", "2-usage");
  assert.match(
    await person.page.locator("tfoot").innerText(),
    /^Sum\s+\$\d\.\d+\s+2\b/,
  );
}

/** 3: why was a call refused? */
async function findRefusal(person: Person): Promise<void> {
  await person.hands.find(person.world.refusedId);
  await arrive(person, "Call", "3-call");
  assert.match(
    await textOf(person),
    /model not in plan[^]*What helps[^]*Nothing was charged/,
  );
}

/** A key for a program: shown once. */
async function makeKey(person: Person): Promise<string> {
  const { hands, world, page } = person;
  await hands.open("Keys", "k");
  await arrive(person, "Keys");
  await hands.press("link", "New key");
  await arrive(person, "New key", "4-new-key");
  await hands.enter("Name", "crawler");
  await hands.press("button", "Make the key");
  await page.getByLabel("The new key").waitFor();
  await arrive(person, "New key", "4-made");
  const key = await page.getByLabel("The new key").inputValue();
  assert.equal(await statusOf(world, key), 200);
  await hands.press("link", "I have stored it: Done");
  await arrive(person, "Keys", "4-keys");
  assert.ok(!(await page.content()).includes(key));
  return key;
}

/** 4: rotate a key without an outage; the list has the newest key first. */
async function rotate(person: Person, old: string): Promise<string> {
  const { hands, world, page } = person;
  await hands.open("Keys", "k");
  await arrive(person, "Keys");
  await hands.press("link", "Rotate");
  await arrive(person, "Rotate a key", "4-rotate");
  await hands.press("button", "Rotate");
  await arrive(person, "Rotated", "4-rotated");
  const key = await page.getByLabel("The new key").inputValue();
  assert.match(
    await page.getByRole("status").innerText(),
    /works until \d{4}-\d\d-\d\d/,
  );
  assert.deepEqual(
    [await statusOf(world, old), await statusOf(world, key)],
    [200, 200],
  );
  if (person.run !== "no-script") {
    await hands.press("button", "Copy");
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), key);
  }
  return key;
}

/** 5: a key leaked: its owner revokes it. */
async function revoke(person: Person, key: string): Promise<void> {
  const { hands, page, world } = person;
  await hands.open("Keys", "k");
  await arrive(person, "Keys");
  await hands.press("link", "Revoke");
  await arrive(person, "Revoke a key", "5-revoke");
  await hands.enter("The key's last four characters", key.slice(-4));
  await hands.press("button", "Revoke");
  await page.getByRole("status").waitFor();
  await arrive(person, "Keys", "5-revoked");
  assert.equal(await statusOf(world, key), 401);
}

/** 5 again, with nothing but the leaked key. */
async function revokeItself(person: Person, key: string): Promise<void> {
  const { hands, page, world } = person;
  await signIn(person, key);
  await hands.open("This key", "k");
  await arrive(person, "This key", "5-this-key");
  await hands.enter("The key's last four characters", key.slice(-4));
  await hands.press("button", "Revoke");
  await page.getByText("The key is revoked").waitFor();
  await arrive(person, "Sign in", "5-itself-revoked");
  assert.equal(await statusOf(world, key), 401);
}

/** 6: connect a program. */
async function connect(person: Person): Promise<void> {
  const { hands, page, world } = person;
  await hands.open("Connect", "n");
  await arrive(person, "Connect");
  await hands.press("link", "Codex CLI");
  await page.getByText("In ~/.codex/config.toml.").waitFor();
  await arrive(person, "Connect", "6-connect");
  await hands.press("button", "Copy");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assert.ok(String(copied).includes(`base_url = "${world.gateway.url}/v1"`));
}

/** 7: which upstream is ill, since when, and who suffers? */
async function findFailedCalls(person: Person): Promise<void> {
  const { hands, page, world } = person;
  const ids: string[] = [];
  for (
    const [fixture, stream] of [["status?code=500", false], [
      "error-mid",
      true,
    ]] as const
  ) {
    const reply = await world.gateway.call({
      model: "vendorb-5.5",
      stream,
      text: `[[fx:${fixture}]]`,
    }, world.key);
    await reply.text();
    ids.push(reply.headers.get("request-id") ?? "");
  }
  await world.gateway.recorded();
  await hands.open("Upstreams", "h");
  await arrive(person, "Upstreams", "7-upstreams");
  const failed = page.getByRole("link", { name: /^\d+ of \d+ failed$/ });
  await hands.press("link", await failed.first().innerText());
  await arrive(person, "Failed attempts", "7-failed-attempts");
  const text = await textOf(person);
  for (const id of ids) assert.ok(text.includes(id), id);
  assert.ok(!text.includes(world.refusedId));
  assert.ok(text.includes(world.accountId));
}

/** 10: do the books agree with the vendor's invoice? One line of it has more tokens. */
async function reconcile(person: Person): Promise<void> {
  const { hands, page, world: { gateway } } = person;
  const { data } = await gateway.accounts.admin.usage({ by: ["day", "model"] });
  assert.ok(data.length > 1);
  await hands.open("Ledger", "l");
  await arrive(person, "Ledger", "10-ledger");
  await hands.press("link", "Reconcile");
  await arrive(person, "Reconcile", "10-reconcile");
  await hands.enter(
    "Or paste it",
    [
      "date,model,input_tokens,output_tokens",
      ...data.map((one, index) =>
        [
          one.day,
          one.model,
          one.inputTokens,
          one.outputTokens + (index === 0 ? 1000 : 0),
        ].join(",")
      ),
    ].join("\n"),
  );
  await hands.press("button", "Compare");
  await page.getByRole("status").waitFor();
  await arrive(person, "Reconcile", "10-compared");
  assert.match(
    await page.getByRole("status").innerText(),
    /^1 of \d+ days and models differ/,
  );
}

/** 10 again, with a file of a line per call: one is missing, one doubled, one at another price. */
async function uploadInvoice(person: Person): Promise<void> {
  const { hands, page, world: { gateway } } = person;
  const { data } = await gateway.accounts.admin.ledger({
    kind: "charge",
    limit: 1000,
  });
  const lineOf = (entry: typeof data[number], microUsd: number): string =>
    [
      new Date(entry.atMs).toISOString().slice(0, 10),
      entry.model,
      entry.inputTokens ?? 0,
      entry.outputTokens ?? 0,
      microUsd,
    ].join(",");
  const [removed, repriced] = data.filter(({ model, microUsd }) =>
    model === "vendora-opus-4-8" && microUsd < 0
  );
  const doubled = data.find(({ model, microUsd }) =>
    model === "vendorb-5.5" && microUsd < 0
  );
  assert.ok(removed && repriced && doubled);
  await hands.open("Ledger", "l");
  await arrive(person, "Ledger");
  await hands.press("link", "Reconcile");
  await arrive(person, "Reconcile");
  await page.locator("input[name=file]").setInputFiles({
    name: "invoice.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(
      [
        "date,model,input_tokens,output_tokens,micro_usd",
        ...data.filter((entry) => entry !== removed).map((entry) =>
          lineOf(
            entry,
            entry === repriced ? 1000 - entry.microUsd : 0 - entry.microUsd,
          )
        ),
        lineOf(doubled, 0 - doubled.microUsd),
      ].join("\n"),
    ),
  });
  await hands.press("button", "Compare");
  await page.getByRole("status").waitFor();
  await arrive(person, "Reconcile", "10-uploaded");
  assert.match(
    await page.getByRole("status").innerText(),
    /^2 of \d+ days and models differ/,
  );
  // Cells of a card on a phone are lines.
  const text = (await textOf(person)).replaceAll(/\s+/g, " ");
  for (
    const [cause, microUsd] of [
      ["theirs missing", removed.microUsd],
      ["doubled", 0 - doubled.microUsd],
      ["price changed", 1000],
    ] as const
  ) {
    const amount = `${microUsd < 0 ? "−" : ""}$${
      (Math.abs(microUsd) / 1e6).toFixed(6)
    }`;
    assert.ok(text.includes(`of it ${cause} ${amount} `), cause);
  }
}

async function fill(
  { hands, page, run }: Person,
  name: string,
  label: string,
  text: string,
): Promise<void> {
  const field = page.locator(`main form [name=${name}]`).first();
  if (run.endsWith("keyboard")) await hands.enter(label, text);
  else if (name === "plan") await field.selectOption(text);
  else await field.fill(text);
}

/** 8: let a new team in, with a link that works once; and 9: top up. */
async function letIn(person: Person, guest: Person): Promise<void> {
  const { hands, page, run, world: { gateway } } = person;
  const newcomers = `newcomers-${run}`;
  await hands.open("Accounts", "a");
  await arrive(person, "Accounts", "8-accounts");
  await hands.press("link", "New account");
  await arrive(person, "New account", "8-new-account");
  await fill(person, "id", "Id", newcomers);
  await fill(person, "plan", "Plan", "unlimited");
  await hands.press("button", "Create");
  await arrive(person, `Account ${newcomers}`, "8-account");
  await fill(person, "usd", "Dollars", "12.50");
  await hands.press("button", "Top up");
  await page.getByRole("button", { name: "Confirm" }).waitFor();
  await arrive(person, `Top up ${newcomers}?`, "9-top-up");
  await hands.press("button", "Confirm");
  await page.getByText("$12.500000").waitFor();
  const account = await gateway.accounts.admin.accounts.get(newcomers);
  assert.equal(account.balanceMicroUsd, 12_500_000);
  if (run.endsWith("keyboard")) {
    await hands.enter("Name of the person", "Robin");
  } else {
    await page.locator("form[action*=link] input[name=name]").fill("Robin");
  }
  await hands.press("button", "Sign-in link");
  await arrive(person, "New sign-in link", "8-link");
  const link = await page.getByLabel("The new sign-in link").inputValue();
  await guest.page.goto(link);
  await guest.hands.press("button", "Open");
  await arrive(guest, "Overview", "8-guest");
  await guest.page.getByText(newcomers).first().waitFor();
}

Deno.test({
  name:
    "the tasks of the console, with the pointer, with the keyboard alone, and without JavaScript",
  ignore: CHROMIUM === undefined,
  async fn(t) {
    await Deno.mkdir(SCREENSHOTS, { recursive: true });
    await using gateway = await startConsole();
    await withBrowser(async (browser) => {
      const runs = [
        { run: "pointer", colorScheme: "light", width: 375 },
        { run: "keyboard", colorScheme: "dark", width: 1280 },
        { run: "no-script", colorScheme: "dark", width: 375 },
      ] as const;
      for (const { run, colorScheme, width } of runs) {
        await t.step(run, async () => {
          const world = await worldOf(gateway, run);
          const tab = await openTab(browser, {
            colorScheme,
            viewport: { width, height: 900 },
            javaScriptEnabled: run !== "no-script",
          });
          const { context, complaints } = tab;
          if (run !== "no-script") {
            await context.grantPermissions([
              "clipboard-read",
              "clipboard-write",
            ]);
          }
          const hands = run === "keyboard" ? keyboard(tab) : pointer(tab);
          const person = personOf(
            run,
            world,
            tab,
            hands,
          );
          await signIn(person, world.token);
          await readModels(person);
          await readUsage(person);
          await findRefusal(person);
          const key = await rotate(person, await makeKey(person));
          await revoke(person, key);
          if (run !== "no-script") await connect(person);
          else {
            await hands.open("Try", "t");
            await tab.page.getByText("Without JavaScript, use a terminal:")
              .waitFor();
          }
          await revokeItself(person, world.key);
          assert.deepEqual(complaints, []);
          await context.close();
        });
      }
      const operators = [
        { run: "operator", width: 375 },
        { run: "operator-keyboard", width: 1280 },
        { run: "operator-no-script", width: 375 },
      ] as const;
      for (const { run, width } of operators) {
        await t.step(run, async () => {
          const world = await worldOf(gateway, `for-${run}`);
          const tab = await openTab(browser, {
            colorScheme: "dark",
            viewport: { width, height: 900 },
            javaScriptEnabled: run !== "operator-no-script",
          });
          const guestTab = await openTab(browser);
          const person = personOf(
            run,
            world,
            tab,
            run === "operator-keyboard" ? keyboard(tab) : pointer(tab),
          );
          const guest = personOf(run, world, guestTab);
          await tab.page.goto(`${gateway.url}/console/operator/sign-in`);
          await person.hands.enter("Admin token", ADMIN_TOKEN);
          await person.hands.press("button", "Sign in");
          await arrive(person, "Overview", "7-overview");
          await findFailedCalls(person);
          await letIn(person, guest);
          await reconcile(person);
          await uploadInvoice(person);
          assert.deepEqual([...tab.complaints, ...guestTab.complaints], []);
          await guestTab.context.close();
          await tab.context.close();
        });
      }
    });
  },
});
