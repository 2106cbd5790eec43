/** Queries of reports are bounded by an index: one that scans the ledger takes seconds. */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import { readingAdmin } from "../testing/reading_admin.ts";
import type { UsageGroup } from "./usage_query.ts";
import { type SqlValue, type Store, textOf } from "../store/store.ts";
import { auditAccounts } from "../audits/account_audit.ts";
import { openStore } from "../store/open_store.ts";

/** Tables that grow with every call. */
const LARGE =
  "ledger usage_daily calls call_hours call_days changes failed_attempts"
    .split(" ");
const SCAN = new RegExp(`\\bSCAN (?:${LARGE.join("|")})\\b`);

function recorded(
  store: Store,
): { readonly store: Store; readonly statements: Map<string, SqlValue[]> } {
  const statements = new Map<string, SqlValue[]>();
  const read: Store["read"] = (text, values = []) => {
    statements.set(text, [...values]);
    return store.read(text, values);
  };
  return { store: { ...store, read, report: read }, statements };
}

/** Each of the first with each of the second. */
function cross<A extends object, B extends object>(
  first: readonly A[],
  second: readonly B[],
): readonly (A & B)[] {
  return first.flatMap((one) => second.map((other) => ({ ...one, ...other })));
}

const SCOPES = cross([{}, { accountId: "a" }], [{}, { keyId: "k" }]);

async function collect(store: Store): Promise<Map<string, SqlValue[]>> {
  const { store: observed, statements } = recorded(store);
  const admin = readingAdmin(observed);
  const groups: readonly (readonly UsageGroup[])[] = [
    [],
    ["day"],
    ["hour", "model"],
    ["account", "key"],
    ["user"],
    ["day", "account", "key", "model", "user"],
  ];
  const days = cross(
    [{}, { fromDay: "2026-01-01", toDay: "2026-02-01" }],
    [{}, { model: "m" }],
  );
  for (const by of groups) {
    const users = by.includes("hour") ? [{}] : [{}, { user: "u" }];
    for (const query of cross(cross(SCOPES, days), users)) {
      await admin.usage({
        by,
        ...query,
        order: { by: "microUsd", isDescending: true },
      });
      await admin.cachedTokens(query, ["k"]);
      await admin.usageSeries({
        group: by.includes("key") ? "key" : "model",
        measure: "tokens",
        step: by.includes("hour") ? "hour" : "day",
        limit: 6,
        ...query,
      });
    }
  }
  await admin.costOfKeys({
    accountId: "a",
    keyIds: ["k", "l"],
    fromDay: "2026-01-01",
    toDay: "2026-02-01",
  });
  const kinds = [{}, { kind: "charge" }, { kind: "top_up" }] as const;
  const requests = cross(kinds, [{}, { requestId: "r" }]);
  const times = cross([{}, { fromMs: 1 }, { toMs: 1e13 }], [{}, {
    after: "7",
  }]);
  for (const query of cross(cross(SCOPES, requests), times)) {
    for (const newestFirst of [false, true]) {
      await admin.ledger({ newestFirst, ...query });
    }
  }
  const ids = { fromMs: 1, toMs: 1e13, after: "req_1" };
  const filters = {
    model: "m",
    status: 200,
    ended: "failed",
    code: "c",
    user: "u",
    minMicroUsd: 1,
    minMs: 1,
  };
  for (const query of cross(SCOPES, [{}, ids])) {
    for (const [name, value] of Object.entries(filters)) {
      await admin.calls.list({ ...query, [name]: value });
    }
    await admin.calls.list(query);
    await admin.calls.list({ ...query, ...filters });
  }
  for (const step of ["hour", "day"] as const) {
    await admin.callsCountedFrom(step);
    for (const query of SCOPES) {
      const all = { step, fromMs: 0, toMs: 86_400_000, ...query };
      await admin.callHealths(all);
      for (const by of ["step", "day", "model", "key", "account"] as const) {
        await admin.callHealths({ ...all, by, ids: ["k"] });
      }
    }
  }
  for (
    const filter of [
      {},
      { accountId: "a" },
      { action: "key.issue" },
      { target: "t" },
      { actorKind: "operator" },
      { actorId: "key_1" },
    ] as const
  ) {
    await admin.changes.list(filter);
    await admin.changes.list({ ...filter, fromMs: 1, toMs: 1e13 });
  }
  await admin.plans.create({ id: "p" });
  await admin.accounts.create({ id: "a", planId: "p" });
  await admin.accounts.topUp("a", { microUsd: 1, model: "m" });
  await admin.accounts.topUp("a", { microUsd: 1 });
  const onRead = () => Promise.resolve();
  for await (const _ of auditAccounts({ store: observed, onRead, rows: 1 }));
  await admin.audits.list();
  await admin.audits.ofAccount("a");
  await admin.calls.get("req_1", {}).catch(() => {});
  await admin.accounts.list({});
  await admin.plans.list({});
  await admin.keys.list({});
  for (
    const scope of [{}, { accountId: "a" }, { accountId: "a", keyId: "k" }]
  ) {
    await admin.find("part", scope);
  }
  return statements;
}

/** The lines of a statement's plan. */
async function planOf(
  store: Store,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly string[]> {
  const rows = await store.read(`EXPLAIN QUERY PLAN ${text}`, values);
  return rows.map((row) => textOf(row, "detail"));
}

/** Only an operator's report on the end users of all accounts reads all of them. */
const OF_ALL_USERS = /^(?!.*\baccount_id (?:=|IN) ).* FROM usage_daily\b/;

Deno.test("no query of a report scans a table that grows with every call", async () => {
  await using store = await openStore("sqlite::memory:");
  const statements = await collect(store);
  assert.ok(statements.size > 100, `only ${statements.size} statements`);
  const scans: string[] = [];
  for (const [text, values] of statements) {
    const plan = await planOf(store, text, values);
    if (plan.some((line) => SCAN.test(line)) && !OF_ALL_USERS.test(text)) {
      scans.push(`${text}\n  ${plan.join("\n  ")}`);
    }
  }
  assert.deepEqual(scans, []);
});

Deno.test("failed and refused calls are read along an index that has no others", async () => {
  await using store = await openStore("sqlite::memory:");
  const { store: observed, statements } = recorded(store);
  const { calls } = readingAdmin(observed);
  for (const by of [{ ended: "failed" }, { outcome: "rescued" }] as const) {
    for (const [accountId, index] of INCOMPLETE) {
      statements.clear();
      await calls.list({
        ...by,
        ...compact({ accountId }),
        fromMs: 1,
        model: "m",
        scanLimit: 1000,
      });
      assert.equal(statements.size, 2);
      for (const [text, values] of statements) {
        assert.match((await planOf(store, text, values)).join(), index);
      }
    }
  }
});

Deno.test("a request's entries are found by its id, whoever asks", async () => {
  await using store = await openStore("sqlite::memory:");
  const { store: observed, statements } = recorded(store);
  await readingAdmin(observed).ledger({ requestId: "r", accountId: "a" });
  const found = [...statements].filter(([text]) =>
    text.includes("FROM ledger")
  );
  assert.equal(found.length, 1);
  for (const [text, values] of found) {
    const plan = (await planOf(store, text, values)).join();
    assert.match(plan, /SEARCH ledger USING .*\(request_id=\?\)/);
    assert.doesNotMatch(plan, /seq>/);
  }
});

const INCOMPLETE = [
  [undefined, /INDEX calls_unsmooth \(request_id>\? AND request_id<\?\)/],
  [
    "a",
    /INDEX calls_account_unsmooth \(account_id=\? AND request_id>\? AND request_id<\?\)/,
  ],
] as const;

Deno.test("the check of the plans notices a scan", async () => {
  await using store = await openStore("sqlite::memory:");
  for (const table of LARGE) {
    const text = `SELECT COUNT(*) FROM ${table} WHERE account_id LIKE $1`;
    const plan = await planOf(store, text, ["%m"]);
    assert.match(plan.join("\n"), SCAN);
  }
});
