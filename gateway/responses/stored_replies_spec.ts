/**
 * Tests of stored replies that every store must pass.
 */
import assert from "node:assert/strict";
import { state } from "../../translate/formats/responses/state.ts";
import { migrate } from "../accounts/store/migrate.ts";
import { MIGRATIONS } from "../accounts/store/migrations.ts";
import { intOf, type Store } from "../accounts/store/store.ts";
import type { TestStore } from "../accounts/testing/stores.ts";
import { insertReplies, removeEnded, SLICE } from "./reply_rows.ts";
import { deriveSeal, type Seal } from "../accounts/seal.ts";
import {
  MAX_ITEMS,
  MAX_REPLIES,
  type NewReply,
  type StoredReplies,
  storedReplies,
} from "./stored_replies.ts";
import { compact } from "../../translate/bytes/compact.ts";

const KEY = "sk-0123456789abcdefghij";
const DAY_MS = 86_400_000;
const SECRET = "the launch code is 1234";

interface Opened {
  readonly store: Store;
  readonly replies: StoredReplies;
  readonly seal: Seal;
  save(id: string, over?: Partial<NewReply>): Promise<void>;
  /** The turns that are found from a reply. */
  turnsOf(id: string, by?: Seal): Promise<number>;
  /** The clock. */
  readonly time: { nowMs: number };
}

function reply(seal: Seal, id: string, over: Partial<NewReply> = {}): NewReply {
  const item = { id: `msg_${id}`, type: "message", text: `${SECRET} ${id}` };
  return {
    accountId: "account",
    keyId: "key",
    seal,
    turn: {
      id,
      input: [{ role: "user", content: SECRET }],
      reply: JSON.stringify({ id, output: [item] }),
    },
    inputBytes: 100,
    itemIds: [item.id],
    ...over,
  };
}

async function count(store: Store, table: string): Promise<number> {
  const [row] = await store.read(
    `SELECT CAST(COUNT(*) AS BIGINT) AS n FROM ${table}`,
  );
  return row === undefined ? -1 : intOf(row, "n");
}

/** The bytes that the store counts for the account, which must be those that it has. */
async function countedBytes(store: Store): Promise<number> {
  const [row] = await store.read(
    "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS n, " +
      "(SELECT bytes FROM stored_bytes WHERE account_id = 'account') AS counted " +
      "FROM stored_replies",
  );
  assert.ok(row !== undefined);
  assert.equal(intOf(row, "n"), row["counted"] ?? 0);
  return intOf(row, "n");
}

export function storedRepliesSpec(kind: TestStore): void {
  const test = (
    name: string,
    run: (opened: Opened) => Promise<void>,
    maxBytes = 1_000_000,
  ): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      await using store = await database.open();
      const time = { nowMs: 1_800_000_000_000 };
      const replies = storedReplies({
        store,
        maxAgeMs: 30 * DAY_MS,
        maxBytes,
        now: () => time.nowMs,
      });
      const seal = deriveSeal(KEY);
      try {
        await run({
          store,
          replies,
          seal,
          time,
          save: (id, over) => replies.save(reply(seal, id, over)),
          turnsOf: async (id, by = seal) =>
            (await replies.chain(by, id, 1000)).turns.length,
        });
      } finally {
        await replies.close();
      }
    });
  };

  test("save() and chain() keep a conversation's order and content", async ({ replies, seal, save }) => {
    await save("resp_1");
    await save("resp_2", { previousId: "resp_1" });
    const last = reply(seal, "resp_3", { previousId: "resp_2" });
    await replies.save(last);
    const { turns, missing } = await replies.chain(seal, "resp_3", 10_000);
    assert.equal(missing, "nothing");
    assert.deepEqual(turns.map(({ id }) => id), ["resp_1", "resp_2", "resp_3"]);
    assert.deepEqual(turns[2], last.turn);
  });

  test("a chain with a gap, or beyond its limits, says so", async ({ replies, seal, save }) => {
    await save("resp_1");
    await save("resp_2", { previousId: "resp_1" });
    await save("resp_3", { previousId: "resp_2" });
    const small = await replies.chain(seal, "resp_3", 10);
    assert.equal(small.missing, "too much");
    assert.equal(small.turns.at(-1)?.id, "resp_3");
    assert.equal(await replies.remove(seal, "resp_1"), true);
    const cut = await replies.chain(seal, "resp_3", 10_000);
    assert.equal(cut.missing, "a reply");
    assert.deepEqual(cut.turns.map(({ id }) => id), ["resp_2", "resp_3"]);
    const none = await replies.chain(seal, "resp_1", 10_000);
    assert.deepEqual(none, { turns: [], missing: "nothing" });
  });

  test("a chain ends at its largest length", async ({ replies, seal, save }) => {
    let previousId: string | undefined;
    for (let n = 0; n <= MAX_REPLIES; n++) {
      const id = `resp_${n}`;
      const turn = { id, input: [], reply: "{}" };
      await save(id, { turn, itemIds: [], ...compact({ previousId }) });
      previousId = id;
    }
    const last = await replies.chain(seal, `resp_${MAX_REPLIES}`, 1_000_000);
    assert.equal(last.missing, "too much");
    assert.equal(last.turns.length, MAX_REPLIES);
    const id = `resp_${MAX_REPLIES - 1}`;
    const before = await replies.chain(seal, id, 1_000_000);
    assert.equal(before.missing, "nothing");
  });

  test("items() finds items by id, the later one where two replies have one id", async ({ replies, seal, time, save }) => {
    await save("resp_1");
    time.nowMs++;
    const later = { id: "msg_resp_1", type: "message", text: "later" };
    const text = JSON.stringify({ id: "resp_2", output: [later] });
    await save("resp_2", {
      turn: { id: "resp_2", input: [], reply: text },
      itemIds: ["msg_resp_1"],
    });
    const ids = ["msg_resp_1", "msg_unknown"];
    const found = await replies.items(seal, ids, 10_000, state);
    assert.deepEqual([...found ?? []], [["msg_resp_1", later]]);
    const other = deriveSeal(`${KEY}1`);
    const sizeOf = async (with_: Seal, ids: readonly string[], max: number) =>
      (await replies.items(with_, ids, max, state))?.size;
    assert.equal(await sizeOf(other, ["msg_resp_1"], 10_000), 0);
    assert.equal(await sizeOf(seal, [], 0), 0);
    assert.equal(await sizeOf(seal, ["msg_resp_1"], 10), undefined);
    const many = Array.from({ length: MAX_ITEMS + 1 }, (_, n) => `msg_${n}`);
    assert.equal(await sizeOf(seal, many, 10_000), undefined);
  });

  test("no row contains text, an id or the key, and another key finds nothing", async ({ store, replies, seal, save, turnsOf }) => {
    await save("resp_1");
    await save("resp_2", { previousId: "resp_1" });
    const sealed = await store.read("SELECT * FROM stored_replies");
    const text = JSON.stringify([
      sealed,
      await store.read("SELECT * FROM stored_items"),
    ]);
    for (const part of [SECRET, "resp_1", "resp_2", "msg_", KEY]) {
      assert.ok(!text.includes(part), part);
    }
    assert.equal(sealed.length, 2);
    for (const { input, reply } of sealed) {
      for (const part of [input, reply]) {
        assert.ok(!atob(String(part).slice(2)).includes(SECRET));
      }
    }
    const other = deriveSeal(`${KEY}1`);
    assert.equal(await turnsOf("resp_1", other), 0);
    assert.equal(await replies.remove(other, "resp_1"), false);
    assert.equal(await replies.reply(other, "resp_1"), undefined);
    const stored = await replies.reply(seal, "resp_1");
    assert.match(new TextDecoder().decode(stored), /launch code/);
  });

  test("rows that were changed, exchanged or joined are not read", async ({ store, replies, seal, save }) => {
    await save("resp_1");
    await save("resp_2");
    await save("resp_3", { previousId: "resp_2" });
    const [one, two, three] = ["resp_1", "resp_2", "resp_3"].map((id) =>
      seal.addressOf("reply", id)
    );
    const change = (text: string, values: readonly (string | undefined)[]) =>
      store.write((sql) => sql.all(text, values.map((value) => value ?? null)));
    await change(
      "UPDATE stored_replies SET previous = $1 WHERE address = $2",
      [one, three],
    );
    await assert.rejects(replies.chain(seal, "resp_3", 10_000), /changed/);
    await change(
      "UPDATE stored_replies SET reply = (SELECT reply FROM stored_replies WHERE address = $1) WHERE address = $2",
      [one, two],
    );
    await assert.rejects(replies.reply(seal, "resp_2"));
    await change(
      "UPDATE stored_replies SET reply = input WHERE address = $1",
      [one],
    );
    await assert.rejects(replies.reply(seal, "resp_1"));
  });

  test("remove() removes a reply, its items and its bytes, once", async ({ store, replies, seal, save }) => {
    await save("resp_1");
    const before = await countedBytes(store);
    await save("resp_2");
    assert.equal(await replies.remove(seal, "resp_2"), true);
    assert.equal(await replies.remove(seal, "resp_2"), false);
    assert.equal(await countedBytes(store), before);
    assert.equal(await count(store, "stored_items"), 1);
  });

  test("an expired reply is not found, whether or not it is purged", async ({ store, replies, seal, time, save, turnsOf }) => {
    await save("resp_1");
    time.nowMs += DAY_MS;
    await save("resp_2", { previousId: "resp_1" });
    time.nowMs += 29 * DAY_MS + 1;
    assert.equal(await turnsOf("resp_1"), 0);
    const { missing } = await replies.chain(seal, "resp_2", 1000);
    assert.equal(missing, "a reply");
    assert.equal(await replies.remove(seal, "resp_1"), false);
    const items = await replies.items(seal, ["msg_resp_1"], 10_000, state);
    assert.equal(items?.size, 0);
    assert.equal(await count(store, "stored_replies"), 2);
  });

  test("a purge removes expired replies in slices, and those of ended keys", async ({ store, time, save, turnsOf }) => {
    const startedMs = time.nowMs;
    const old = Array.from({ length: SLICE + 5 }, (_, n) => `resp_old${n}`);
    await Promise.all(old.map((id) => save(id)));
    time.nowMs += 10 * DAY_MS;
    await store.write(async (sql) => {
      await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 0)");
      await sql.all(
        "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) VALUES ('account', '', 'active', 'prepaid', 'p', 0)",
      );
      for (
        const [id, expires, revoked] of [
          ["alive", null, null],
          ["later", time.nowMs + 1, null],
          ["expired", time.nowMs, null],
          ["revoked", null, time.nowMs - 1],
        ] as const
      ) {
        await sql.all(
          "INSERT INTO keys (id, account_id, name, hash, hint, created_at_ms, expires_at_ms, revoked_at_ms) " +
            "VALUES ($1, 'account', '', $1, '', 0, $2, $3)",
          [id, expires, revoked],
        );
      }
    });
    for (const keyId of ["alive", "later", "expired", "revoked"]) {
      await save(`resp_${keyId}`, { keyId });
    }
    const bounds = { oldestMs: startedMs + 1, nowMs: time.nowMs };
    const slice = (): Promise<number> =>
      store.write((sql) => removeEnded(sql, store.dialect, bounds));
    assert.equal(await slice(), SLICE);
    assert.equal(await slice(), 5);
    assert.equal(await slice(), 0);
    assert.equal(await count(store, "stored_replies"), 2);
    assert.equal(await count(store, "stored_items"), 2);
    await countedBytes(store);
    for (const keyId of ["alive", "later"]) {
      assert.equal(await turnsOf(`resp_${keyId}`), 1, keyId);
    }
  });

  test(
    "an account's oldest replies make room for new ones",
    async ({ store, time, save, turnsOf }) => {
      for (let n = 0; n < 100; n++) {
        time.nowMs++;
        await save(`resp_${n}`);
        await save(`resp_other${n % 3}`, { accountId: "other" }).catch(
          () => {},
        );
        assert.ok(await sumOf(store, "account") <= 5_000);
      }
      assert.equal(await turnsOf("resp_99"), 1);
      assert.equal(await turnsOf("resp_0"), 0);
      assert.equal(await turnsOf("resp_other0"), 1, "of another account");
      const id = "resp_large";
      const turn = { id, input: [], reply: "x".repeat(5_000) };
      await assert.rejects(save(id, { turn }), /larger/);
      assert.equal(await turnsOf("resp_99"), 1);
    },
    5_000,
  );

  test("replies that are written at once count for their own accounts, and the last one has an item that several have", async ({ store, seal, save }) => {
    await Promise.all(Array.from({ length: 120 }, (_, n) =>
      save(`resp_${n}`, {
        accountId: n % 3 === 0 ? "other" : "account",
        itemIds: ["msg_shared", "msg_shared", `msg_${n}`],
      })));
    assert.equal(await count(store, "stored_replies"), 120);
    assert.equal(await count(store, "stored_items"), 121);
    const counted = await store.read(
      "SELECT account_id, bytes FROM stored_bytes ORDER BY account_id",
    );
    assert.deepEqual(
      counted.map((row) => [row["account_id"], intOf(row, "bytes")]),
      [
        ["account", await sumOf(store, "account")],
        ["other", await sumOf(store, "other")],
      ],
    );
    const [owner] = await store.read(
      "SELECT reply FROM stored_items WHERE address = $1",
      [seal.addressOf("item", "msg_shared")],
    );
    assert.equal(owner?.["reply"], seal.addressOf("reply", "resp_119"));
  });

  test(
    "replies that are written at once and exceed the share together leave the last ones",
    async ({ store, replies, seal, save }) => {
      const ids = Array.from({ length: 60 }, (_, n) => `resp_${n}`);
      await Promise.all(ids.map((id) => save(id)));
      const bytes = await sumOf(store, "account");
      assert.ok(bytes > 0 && bytes <= 5_000);
      assert.equal(await countedBytes(store), bytes);
      assert.notEqual(await replies.reply(seal, "resp_59"), undefined);
    },
    5_000,
  );

  test("insertReplies() does nothing the second time", async ({ store }) => {
    const row = {
      address: "a",
      accountId: "account",
      keyId: "key",
      atMs: 1,
      input: "1",
      reply: "1.",
      items: ["i"],
    };
    for (let time = 0; time < 2; time++) {
      await store.write((sql) =>
        insertReplies(sql, store.dialect, [row, row], 100)
      );
    }
    assert.equal(await countedBytes(store), 3);
  });

  Deno.test(`${kind.name}: a store of an earlier version gets the tables, and keeps what it has`, async () => {
    await using database = await kind.createDatabase();
    await using store = await database.open({
      migrations: MIGRATIONS.slice(0, 2),
    });
    await store.write((sql) =>
      sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 7)")
    );
    await migrate(store);
    assert.equal(await count(store, "stored_replies"), 0);
    const plans = await store.read("SELECT created_at_ms FROM plans");
    assert.deepEqual(plans.map((row) => row["created_at_ms"]), [7]);
    assert.equal(await count(store, "migrations"), MIGRATIONS.length);
  });
}

async function sumOf(store: Store, accountId: string): Promise<number> {
  const [row] = await store.read(
    "SELECT CAST(SUM(bytes) AS BIGINT) AS n FROM stored_replies WHERE account_id = $1",
    [accountId],
  );
  return row === undefined ? 0 : intOf(row, "n");
}
