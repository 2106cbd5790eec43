/**
 * Tests of long stored replies that every store must pass.
 */
import assert from "node:assert/strict";
import { exactJson } from "../../translate/bytes/exact_json.ts";
import { deriveSeal } from "../accounts/seal.ts";
import { intOf, type Store, textOf } from "../accounts/store/store.ts";
import type { TestStore } from "../accounts/testing/stores.ts";
import { insertReplies } from "./reply_rows.ts";
import { removeLooseParts } from "./stored_parts.ts";
import { type StoredReplies, storedReplies } from "./stored_replies.ts";

const HOUR_MS = 3_600_000;
const MAX_BYTES = 40_000_000;
const ID = "resp_long";

interface Opened {
  readonly store: Store;
  readonly replies: StoredReplies;
  readonly time: { nowMs: number };
}

const seal = deriveSeal("sk-0123456789abcdefghij");
const ADDRESS = seal.addressOf("reply", ID);

const INPUT: readonly unknown[] = [
  { role: "user", content: "a text \u{1f600} ".repeat(120_000) },
  exactJson('{"id":12345678901234567890,"x":[1.0,null]}'),
  ...Array.from({ length: 9_000 }, (_, at) => ({ role: "user", content: at })),
];
const REPLY = JSON.stringify({ id: ID, output: ["\u{1f600}".repeat(300_000)] });

function saveLong(
  replies: StoredReplies,
  turn: object = {},
  previousId?: string,
): Promise<void> {
  return replies.save({
    accountId: "account",
    keyId: "key",
    seal,
    turn: { id: ID, input: INPUT, reply: REPLY, ...turn },
    inputBytes: 2_000_000,
    itemIds: ["msg_1"],
    ...(previousId === undefined ? {} : { previousId }),
  });
}

async function count(store: Store, table: string): Promise<number> {
  const [row] = await store.read(
    `SELECT CAST(COUNT(*) AS BIGINT) AS n FROM ${table}`,
  );
  return row === undefined ? -1 : intOf(row, "n");
}

/** Removes all parts that are loose. */
async function removeLoose(store: Store, nowMs: number): Promise<void> {
  while (await store.write((sql) => removeLooseParts(sql, nowMs)));
}

export function storedPartsSpec(kind: TestStore): void {
  const test = (name: string, run: (opened: Opened) => Promise<void>): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      await using store = await database.open();
      const time = { nowMs: 1_800_000_000_000 };
      const replies = storedReplies({
        store,
        maxAgeMs: 30 * 24 * HOUR_MS,
        maxBytes: MAX_BYTES,
        now: () => time.nowMs,
      });
      try {
        await run({ store, replies, time });
      } finally {
        await replies.close();
      }
    });
  };

  test("a long reply is stored in short parts, and read as it was", async ({ store, replies }) => {
    await saveLong(replies);
    await saveLong(replies, { id: "resp_2", input: [1] }, ID);
    const { turns, missing } = await replies.chain(seal, "resp_2", MAX_BYTES);
    assert.equal(missing, "nothing");
    assert.deepEqual(turns, [
      { id: ID, input: INPUT, reply: REPLY },
      { id: "resp_2", input: [1], reply: REPLY },
    ]);
    const stored = await replies.reply(seal, ID);
    assert.equal(new TextDecoder().decode(stored), REPLY);
    const rows = await store.read("SELECT sealed FROM stored_parts");
    assert.ok(rows.length > 10);
    const lengths = rows.map((row) => textOf(row, "sealed").length);
    assert.ok(Math.max(...lengths) < 600_000);
    const [bytes] = await store.read(
      "SELECT CAST(SUM(bytes) AS BIGINT) AS n, (SELECT bytes FROM stored_bytes) AS counted FROM stored_replies",
    );
    assert.ok(bytes !== undefined);
    assert.equal(intOf(bytes, "n"), intOf(bytes, "counted"));
    const parts = lengths.reduce((sum, length) => sum + length, 0);
    assert.ok(intOf(bytes, "n") > parts && intOf(bytes, "n") < parts + 100);
    const short = await replies.chain(seal, "resp_2", 1_000);
    assert.equal(short.missing, "too much");
  });

  test("parts that are missing, moved or left out at the end are not read", async ({ store, replies }) => {
    await saveLong(replies);
    const [row] = await store.read("SELECT input, reply FROM stored_replies");
    assert.ok(row !== undefined);
    const [, last] = /-(\d+)$/.exec(textOf(row, "input")) ?? [];
    const changes: readonly (readonly [string, string])[] = [
      ["UPDATE stored_replies SET input = $1", `2.0-${Number(last) - 1}`],
      ["UPDATE stored_replies SET input = $1", `2.1-${last}`],
      ["UPDATE stored_replies SET input = $1", textOf(row, "reply")],
      [
        "UPDATE stored_parts SET sealed = (SELECT sealed FROM stored_parts WHERE part = 1) WHERE $1 <> '' AND part = 0",
        "x",
      ],
    ];
    for (const [text, value] of changes) {
      await store.write((sql) => sql.all(text, [value]));
      await assert.rejects(replies.chain(seal, ID, MAX_BYTES), text);
      await store.write((sql) =>
        sql.all("UPDATE stored_replies SET input = $1", [
          textOf(row, "input"),
        ])
      );
    }
  });

  test("a part that is not there is no end", async ({ store, replies }) => {
    await saveLong(replies);
    await store.write((sql) =>
      sql.all("DELETE FROM stored_parts WHERE part = 3")
    );
    await assert.rejects(replies.chain(seal, ID, MAX_BYTES), /missing/);
  });

  test("a reply is not stored without all its parts", async ({ store }) => {
    const row = {
      address: "a",
      accountId: "account",
      keyId: "key",
      atMs: 1,
      input: "2.0-1",
      reply: "2.1-2",
      inParts: { parts: 2, chars: 10, replyChars: 5 },
      items: [],
    };
    await assert.rejects(
      store.write((sql) => insertReplies(sql, store.dialect, [row], 100)),
      /missing/,
    );
    assert.equal(await count(store, "stored_replies"), 0);
  });

  test("parts of a removed reply are removed; those of a stored one stay", async ({ store, replies, time }) => {
    await saveLong(replies);
    await saveLong(replies, { id: "resp_2" });
    await removeLoose(store, time.nowMs + 2 * HOUR_MS);
    assert.equal(await count(store, "stored_texts"), 2);
    const both = await count(store, "stored_parts");
    assert.equal(await replies.remove(seal, ID), true);
    await removeLoose(store, time.nowMs);
    assert.equal(await count(store, "stored_parts"), both / 2);
    assert.equal(await count(store, "stored_texts"), 1);
    assert.equal((await replies.chain(seal, "resp_2", 1e8)).turns.length, 1);
  });

  test("parts whose process ended are removed an hour later", async ({ store, time }) => {
    await store.write(async (sql) => {
      await sql.all("INSERT INTO stored_texts (reply, at_ms) VALUES ($1, $2)", [
        ADDRESS,
        time.nowMs,
      ]);
      for (let part = 0; part < 120; part++) {
        await sql.all("INSERT INTO stored_parts VALUES ($1, $2, 'x')", [
          ADDRESS,
          part,
        ]);
      }
    });
    await removeLoose(store, time.nowMs + HOUR_MS);
    assert.equal(await count(store, "stored_parts"), 120);
    await removeLoose(store, time.nowMs + HOUR_MS + 1);
    assert.equal(await count(store, "stored_parts"), 0);
    assert.equal(await count(store, "stored_texts"), 0);
  });
}
