import assert from "node:assert/strict";
import { postgresAt, SQLITE } from "../accounts/testing/stores.ts";
import { faultyStores } from "../accounts/testing/faulty_store.ts";
import { deriveSeal } from "../accounts/seal.ts";
import { storedReplies } from "./stored_replies.ts";
import { storedRepliesSpec } from "./stored_replies_spec.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

storedRepliesSpec(SQLITE);
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else storedRepliesSpec(postgresAt(serverUrl));

Deno.test("a failed write rejects the replies in it, and the next one works", async () => {
  await using database = await SQLITE.createDatabase();
  await using store = await database.open();
  const faulty = faultyStores(store)();
  const replies = storedReplies({
    store: faulty,
    maxAgeMs: 1000,
    maxBytes: 100_000,
    now: () => 0,
  });
  const seal = deriveSeal("sk-0123456789abcdefghij");
  const save = (id: string): Promise<void> =>
    replies.save({
      accountId: "a",
      keyId: "k",
      seal,
      turn: { id, input: [], reply: "{}" },
      inputBytes: 2,
      itemIds: [],
    });
  faulty.setDown(true);
  const results = await Promise.allSettled([save("resp_1"), save("resp_2")]);
  assert.ok(results.every(({ status }) => status === "rejected"));
  faulty.setDown(false);
  await save("resp_3");
  const found = async (id: string): Promise<number> =>
    (await replies.chain(seal, id, 1000)).turns.length;
  assert.deepEqual(
    [await found("resp_1"), await found("resp_2"), await found("resp_3")],
    [0, 0, 1],
  );
});
