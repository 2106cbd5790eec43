/**
 * Every limit is on the pages of its owner, as full as it is, and what `GET /v1/account` knows is
 * on the Overview.
 */
import assert from "node:assert/strict";
import { LIMIT_NAMES } from "../../gateway/accounts/records.ts";
import { limitWords } from "../../gateway/accounts/limits/limit_levels.ts";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";

/** Limits that no other figure of a page equals. */
const PLAN = Object.fromEntries(
  LIMIT_NAMES.map((name, at) => [name, 70_000_001 + 1013 * at]),
);
const KEY = Object.fromEntries(
  LIMIT_NAMES.map((name, at) => [name, 60_000_003 + 2027 * at]),
);

/** A prepaid account on a plan with every limit, and a key of it. */
async function customer(
  { accounts: { admin } }: TestGateway,
  plan: Readonly<Record<string, number>>,
  limits: Readonly<Record<string, number>>,
): Promise<{ readonly keyId: string; readonly key: string }> {
  await admin.plans.create({ id: "team", ...plan });
  await admin.accounts.create({ id: "acme", planId: "team" });
  await admin.accounts.topUp("acme", { microUsd: 50_000_017 });
  const { record, text = "" } = await admin.keys.issue({
    accountId: "acme",
    name: "ci",
    expiresAtMs: Date.now() + 86_400_123,
    ...limits,
  });
  return { keyId: record.id, key: text };
}

async function call(gateway: TestGateway, key: string): Promise<Response> {
  const reply = await gateway.call({}, key);
  await reply.text();
  await gateway.accounts.flush();
  return reply;
}

/** Leaves of a JSON value with their paths. */
function leaves(
  value: unknown,
  path: string = "",
): readonly (readonly [path: string, value: unknown])[] {
  return isObject(value)
    ? Object.entries(value).flatMap(([name, one]) =>
      leaves(one, `${path}.${name}`)
    )
    : [[path, value]];
}

Deno.test("whatever GET /v1/account knows, the Overview shows", async () => {
  await using gateway = await startConsole();
  const { key } = await customer(gateway, PLAN, KEY);
  await call(gateway, key);
  const visitor = await visit(gateway.url, "key", key);
  const json = async (): Promise<JsonObject> =>
    await (await fetch(`${gateway.url}/v1/account`, {
      headers: { "x-api-key": key },
    })).json();
  const before = await json();
  const html = await visitor.read("/console/");
  const after = leaves(await json());
  let compared = 0;
  for (const [path, value] of leaves(before)) {
    // Values that changed between the two readings: the use of a minute, and what depends on the
    // pace.
    if (after.every(([name, other]) => name !== path || other !== value)) {
      continue;
    }
    if (path === ".object" || path === ".first_limit") continue;
    if (path === ".first_limit_at" && value === null) continue;
    // The account has a value for every field: without one nothing would compare it.
    assert.ok(typeof value === "number" || typeof value === "string", path);
    const isShown = typeof value === "number"
      ? html.includes(`<data value="${value}">`)
      : html.includes(`datetime="${value}"`) ||
        html.includes(String(value));
    assert.ok(isShown, `${path} ${value} is not on the page`);
    compared++;
  }
  assert.ok(compared > 40, `only ${compared} values`);
});

Deno.test("a limit of every kind has its meter on every page of its owner", async () => {
  await using gateway = await startConsole();
  const { key, keyId } = await customer(gateway, PLAN, KEY);
  await call(gateway, key);
  const ofKey = await visit(gateway.url, "key", key);
  const ofAccount = await visitAs(gateway, "read", "acme");
  const operator = await visitAs(gateway, "operator");
  const codes = [
    "concurrent_requests",
    "requests_per_minute",
    "tokens_per_minute",
    ...["spending", "tokens"].flatMap((unit) =>
      ["day", "week", "month"].map((window) => `${unit}_per_${window}`)
    ),
  ] as const;
  assert.equal(codes.length, LIMIT_NAMES.length);
  for (
    const [visitor, path, holders] of [
      [ofKey, "/console/", ["", "key_"]],
      [ofAccount, "/console/", [""]],
      [ofAccount, "/console/keys", ["key_"]],
      [ofAccount, `/console/keys/${keyId}`, ["key_"]],
      [operator, "/console/operator/keys", ["key_"]],
      [operator, `/console/operator/keys/${keyId}`, ["key_"]],
      [operator, "/console/operator/accounts/acme", [""]],
    ] as const
  ) {
    const html = (await visitor.read(path)).replaceAll("&#39;", "'");
    for (const holder of holders) {
      for (const code of codes) {
        const name = limitWords(
          `${holder}${code}` as Parameters<typeof limitWords>[0],
        );
        assert.ok(
          html.includes(`aria-label="Of ${name}: `),
          `${path}: no meter of ${name}`,
        );
      }
    }
  }
});

Deno.test("a limit that stops calls is red, with the time at which it opens, also for operators", async () => {
  await using gateway = await startConsole();
  // The cost of the call is above both: the key's month opens after the account's day.
  const { key, keyId } = await customer(
    gateway,
    { spendPerDayMicroUsd: 1_000_000 },
    {},
  );
  await call(gateway, key);
  const { admin } = gateway.accounts;
  await admin.plans.update("team", { spendPerDayMicroUsd: 1 });
  await admin.keys.update(keyId, { spendPerMonthMicroUsd: 2 });
  const refused = await call(gateway, key);
  assert.equal(refused.status, 429);
  const now = new Date();
  const opens = new Date(
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  ).toISOString();
  const ofKey = await visit(gateway.url, "key", key);
  const { text: token } = await credentialOf(gateway, "read", "acme");
  const ofAccount = await visit(gateway.url, "read", token);
  const operator = await visitAs(gateway, "operator");
  const overview = await ofKey.read("/console/");
  assert.match(
    overview,
    new RegExp(
      `Stops you now: this key(?:'|&#39;)s monthly budget; it opens at <time datetime="${opens}"`,
    ),
  );
  for (
    const [visitor, path] of [
      [ofKey, "/console/"],
      [ofAccount, "/console/keys"],
      [operator, "/console/operator/"],
    ] as const
  ) {
    const html = await visitor.read(path);
    assert.match(html, /<rect class="full"/, path);
    assert.match(
      html,
      new RegExp(`stops calls</span> it opens at <time datetime="${opens}"`),
      path,
    );
  }
});
