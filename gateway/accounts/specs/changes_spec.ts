/**
 * The record of changes: tests that every store must pass.
 */
import assert from "node:assert/strict";
import type { AccountsTest, TestAccounts } from "./accounts_spec.ts";
import { changeId } from "../changes/change.ts";
import { insertChanges, KEPT_SIGN_INS } from "../rows/change_rows.ts";

async function recorded(
  { admin }: TestAccounts,
): Promise<readonly string[]> {
  const { data } = await admin.changes.list({ limit: 1000 });
  return data.map(({ action }) => action).toReversed();
}

const REPEATED = { key: "k", fingerprint: "f" };

export function changesSpec(test: AccountsTest): void {
  test("a first start records what it makes", async (accounts) => {
    const { data } = await accounts.admin.changes.list();
    assert.deepEqual(
      data.map(({ action, actorKind }) => [action, actorKind]).toReversed(),
      [
        ["plan.create", "gateway"],
        ["account.create", "gateway"],
        ["key.issue", "gateway"],
      ],
    );
  });

  test("a change that is refused, repeated or changes nothing is not recorded", async (accounts) => {
    const { admin } = accounts;
    const first = await recorded(accounts);
    await assert.rejects(admin.keys.issue({ accountId: "missing" }));
    await assert.rejects(admin.accounts.update("default", { planId: "p" }));
    await admin.webhooks.set("default", undefined);
    assert.deepEqual(await recorded(accounts), first);
    const { record } = await admin.keys.issue(
      { accountId: "default" },
      REPEATED,
    );
    await admin.keys.issue({ accountId: "default" }, REPEATED);
    await admin.keys.revoke(record.id);
    await admin.keys.revoke(record.id);
    assert.deepEqual(await recorded(accounts), [
      ...first,
      "key.issue",
      "key.revoke",
    ]);
  });

  test("nothing changes if its record cannot be written", async ({ admin, store }) => {
    await store.write((sql) =>
      sql.all("ALTER TABLE changes RENAME TO no_changes")
    );
    const before = await admin.keys.list();
    const account = await admin.accounts.get("default");
    await assert.rejects(admin.keys.issue({ accountId: "default" }));
    await assert.rejects(admin.accounts.topUp("default", { microUsd: 5 }));
    await assert.rejects(
      admin.sessions.open({ kind: "operator", id: "operator" }),
    );
    assert.deepEqual(await admin.keys.list(), before);
    assert.deepEqual(await admin.accounts.get("default"), account);
    assert.deepEqual(await store.read("SELECT id FROM console_sessions"), []);
  });

  test("changes have the values before and after, and those of one millisecond keep their order", async (accounts) => {
    const { admin, clock } = accounts;
    const by = admin.as({ kind: "operator", via: "api", requestId: "req_1" });
    await by.plans.create({ id: "p", requestsPerMinute: 5 });
    await by.plans.update("p", { requestsPerMinute: 6, tokensPerMinute: 7 });
    await by.plans.update("p", { tokensPerMinute: null });
    const { data } = await admin.changes.list({ target: "p" });
    assert.deepEqual(
      data.map(({ before, after }) => [before, after]).toReversed(),
      [
        [undefined, {
          id: "p",
          requests_per_minute: 5,
          created_at: new Date(clock.ms).toISOString(),
        }],
        [
          { requests_per_minute: 5, tokens_per_minute: null },
          { requests_per_minute: 6, tokens_per_minute: 7 },
        ],
        [{ tokens_per_minute: 7 }, { tokens_per_minute: null }],
      ],
    );
    for (const change of data) {
      assert.equal(change.atMs, clock.ms);
      assert.equal(change.actorKind, "operator");
      assert.equal(change.requestId, "req_1");
    }
    const pages = await Array.fromAsync(admin.changes.all({ target: "p" }));
    assert.deepEqual(pages.flat(), data);
    const at = clock.ms;
    clock.ms += 1000;
    await by.plans.update("p", { requestsPerMinute: 8 });
    for (
      const [query, count] of [
        [{ fromMs: at + 1 }, 1],
        [{ fromMs: at, toMs: at + 1 }, 3],
        [{ toMs: at }, 0],
        [{ after: data[0]?.id ?? "" }, 2],
      ] as const
    ) {
      const { data } = await admin.changes.list({ ...query, target: "p" });
      assert.equal(data.length, count, JSON.stringify(query));
    }
  });

  test("of one credential's sign-ins the newest are kept, and every other change", async (accounts) => {
    const { admin, store, clock } = accounts;
    const actor = { kind: "key", id: "key_1", via: "page" } as const;
    clock.ms += 1000;
    const earlier = Array.from({ length: KEPT_SIGN_INS + 1 }, (_, at) => ({
      id: changeId(clock.ms, at),
      target: `session_${at}`,
    }));
    await store.write(async (sql) => {
      // In one statement: a thousand would keep other writes waiting.
      await sql.all(
        "INSERT INTO changes (id, at_ms, action, target, actor_kind, actor_id, via, signs_in) " +
          "SELECT value ->> 'id', CAST($2 AS BIGINT), 'session.start', value ->> 'target', 'key', 'key_1', 'page', 'key_1' " +
          `FROM ${store.dialect.elements(1)}`,
        [JSON.stringify(earlier), clock.ms],
      );
      await insertChanges(sql, actor, clock.ms, [
        { action: "key.revoke", target: "key_1" },
        { action: "session.start", target: `session_${KEPT_SIGN_INS + 1}` },
      ]);
    });
    const count = async (action: "session.start" | "key.revoke") =>
      (await admin.changes.list({ actorId: "key_1", action, limit: 1000 }))
        .data;
    const kept = await count("session.start");
    assert.equal(kept.length, KEPT_SIGN_INS);
    assert.equal(kept[0]?.target, `session_${KEPT_SIGN_INS + 1}`);
    assert.equal((await count("key.revoke")).length, 1);
  });

  test("a configuration is recorded once, whichever process has it", async (accounts) => {
    const { admin } = accounts;
    const load = (hash: string, state: Record<string, unknown>) =>
      admin.changes.configurationLoaded(hash, state);
    await load("h1", { file: "h1", models: 3 });
    await load("h1", { file: "h1", models: 3 });
    await load("h2", { file: "h2", models: 3 });
    await load("h2", { file: "h2", models: 3 });
    const { data } = await admin.changes.list({ action: "configuration.load" });
    assert.deepEqual(
      data.map(({ target, before, after }) => [target, before, after])
        .toReversed(),
      [
        ["h1", undefined, { file: "h1", models: 3 }],
        ["h2", { file: "h1" }, { file: "h2" }],
      ],
    );
  });
}
