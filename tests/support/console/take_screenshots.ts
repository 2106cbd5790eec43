/**
 * Takes the pictures of the console in README: a gateway on loopback serves real calls over thirty
 * days of its clock, with the replay server as every vendor, and Chromium shows their pages.
 */
import type { TestGateway } from "../test_gateway.ts";
import { openTab, withBrowser } from "./chromium.ts";
import { credentialOf, startConsole } from "./visitor.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LAST_DAY_MS = Date.parse("2026-11-20T00:00:00Z");
const DAYS = 30;
const MODELS = ["vendora-opus-4-8", "vendorb-5.5", "vendorc-3-pro"];

/** Runs on, from whichever time it is set to. */
let clockMs = { set: 0, at: 0 };
const now = (): number =>
  clockMs.set + Math.round(performance.now()) -
  clockMs.at;

function setClock(ms: number): void {
  clockMs = { set: ms, at: Math.round(performance.now()) };
}

async function call(
  gateway: TestGateway,
  key: string,
  model: string,
  prompt: string,
): Promise<string> {
  const reply = await gateway.post("/v1/messages", {
    model,
    max_tokens: 4000,
    stream: true,
    metadata: { user_id: "crawler" },
    messages: [{ role: "user", content: prompt }],
  }, { "x-api-key": key });
  await reply.text();
  return reply.headers.get("request-id") ?? "";
}

/** Prompts of tens of thousands of tokens, more on working days. */
function wordsOn(day: number, index: number): number {
  const isFree = [0, 6].includes(new Date(day).getUTCDay());
  const spread = (Math.floor(day / DAY_MS) * 7 + index * 5) % 11;
  return (isFree ? 4_000 : 16_000) + spread * 2_500;
}

/** Makes an account with its calls; returns the request id of the newest charged call. */
async function fill(gateway: TestGateway): Promise<string> {
  const { admin } = gateway.accounts;
  await admin.plans.create({
    id: "team",
    requestsPerMinute: 60,
    tokensPerMinute: 2_000_000,
    concurrentRequests: 8,
    spendPerDayMicroUsd: 5_000_000,
  });
  await admin.accounts.create({
    id: "search",
    name: "Search team",
    planId: "team",
    billing: "prepaid",
  });
  await admin.accounts.topUp("search", { microUsd: 100_000_000 });
  const { text: key = "" } = await admin.keys.issue({
    accountId: "search",
    name: "ci",
  });
  let id = "";
  for (let back = DAYS - 1; back >= 0; back--) {
    const day = LAST_DAY_MS - back * DAY_MS;
    for (let i = 0; i < 3; i++) {
      for (const [index, model] of MODELS.slice(0, i + 1).entries()) {
        setClock(day + (8 + 2 * i) * 3_600_000 + index * 60_000);
        await call(gateway, key, model, "word ".repeat(wordsOn(day, i)));
      }
    }
  }
  setClock(LAST_DAY_MS + 15.2 * 3_600_000);
  await call(gateway, key, "vendora-opus-5", "An unknown model");
  id = await call(
    gateway,
    key,
    "vendora-opus-4-8",
    `${"word ".repeat(9_000)} [[fx:recover?code=500#readme]]`,
  );
  await gateway.recorded();
  return id;
}

if (Deno.args.length > 0) {
  // deno-lint-ignore no-console
  console.error("deno task screenshots");
  Deno.exit(Deno.args[0] === "--help" ? 0 : 2);
}
setClock(LAST_DAY_MS - (DAYS - 1) * DAY_MS);
// The option `now` is the clock of calls. That of the books is what `Date.now` is at the start.
const systemNow = Date.now;
Date.now = now;
await using gateway = await startConsole({ now });
Date.now = systemNow;
const id = await fill(gateway);
const { text } = await credentialOf(gateway, "manage", "search");
await withBrowser(async (browser) => {
  const { page, context } = await openTab(browser, {
    viewport: { width: 1280, height: 860 },
  });
  await page.goto(`${gateway.url}/console/sign-in`);
  await page.getByLabel("Key, token or code").fill(text);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const [name, path] of [["overview", ""], ["call", `calls/${id}`]]) {
    await page.goto(`${gateway.url}/console/${path}`);
    await page.screenshot({
      path: new URL(`../../../docs/console-${name}.png`, import.meta.url)
        .pathname,
    });
  }
  await context.close();
});
