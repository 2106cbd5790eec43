import assert from "node:assert/strict";
import { faultyStores } from "../accounts/testing/faulty_store.ts";
import { SQLITE } from "../accounts/testing/stores.ts";
import { startPurge } from "./purge.ts";
import { insertReplies, SLICE } from "./reply_rows.ts";

Deno.test("a purge removes everything that expired in small writes, also after an outage, until it is stopped", async () => {
  await using database = await SQLITE.createDatabase();
  await using store = await database.open();
  const faulty = faultyStores(store)();
  const left = async (): Promise<number> =>
    (await store.read("SELECT address FROM stored_replies")).length;
  await store.write(async (sql) => {
    const rows = Array.from({ length: 2 * SLICE + 7 }, (_, n) => ({
      address: `a${n}`,
      accountId: "account",
      keyId: "key",
      atMs: n < 2 * SLICE + 5 ? 10 : 90,
      input: "1",
      reply: "1.",
      items: [],
    }));
    await insertReplies(sql, store.dialect, rows, 100_000);
  });
  let fire = (): void => {};
  let waits = Promise.withResolvers<number>();
  const purge = startPurge({
    store: faulty,
    maxAgeMs: 50,
    now: () => 100,
    timer(ms, run) {
      fire = run;
      waits.resolve(ms);
      return () => {
        fire = () => {};
      };
    },
  });
  const round = async (): Promise<number> => {
    waits = Promise.withResolvers();
    fire();
    return await waits.promise;
  };
  faulty.setDown(true);
  const longMs = await round();
  assert.equal(await left(), 2 * SLICE + 7);
  faulty.setDown(false);
  const shortMs = await round();
  assert.ok(shortMs < longMs);
  assert.equal(await left(), SLICE + 7);
  assert.equal(await round(), shortMs);
  assert.equal(await round(), longMs);
  assert.equal(await left(), 2);
  await purge.stop();
  fire();
});
