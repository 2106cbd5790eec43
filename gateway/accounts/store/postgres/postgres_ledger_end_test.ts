/** A list of all accounts from a replica misses no entry whose write ended late. */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  replayed,
  startPostgresServer,
} from "../../testing/postgres_server.ts";
import {
  apply,
  callOf,
  createAccounts,
  hold,
  WRITTEN,
} from "../../testing/held_writes.ts";
import { openStore } from "../open_store.ts";
import { readingAdmin } from "../../testing/reading_admin.ts";

Deno.test({
  name: "a replica that is behind shows an entry together with those before it",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using primary = await startPostgresServer();
    await using standby = await primary.startStandby();
    // Commits do not wait for the standby.
    await primary.run("ALTER SYSTEM RESET synchronous_standby_names");
    await primary.run("SELECT pg_reload_conf()");
    await using store = await openStore(primary.url);
    const accounts = await createAccounts(store);
    await replayed(primary, standby);
    await using reader = await openStore(primary.url, {
      readUrl: standby.url,
    });
    const admin = readingAdmin(reader);
    const seqs = async (after: number): Promise<readonly number[]> => {
      const { data } = await admin.ledger({ after: String(after) });
      return data.map(({ seq }) => seq);
    };
    /** Reads until the replica has so many entries. */
    const all = async (count: number): Promise<readonly number[]> => {
      for (;;) {
        const found = await seqs(0);
        if (found.length === count) return found;
      }
    };
    const last = (await all(4)).at(-1) ?? 0;
    const held = await hold(store, callOf("a", accounts));
    assert.deepEqual(await apply(store, callOf("b", accounts)), WRITTEN);
    // The replica has the later one alone when it stops.
    for (;;) {
      const text = "SELECT seq FROM ledger WHERE seq > $1";
      if ((await reader.report(text, [last])).length === 1) break;
    }
    await standby.run("SELECT pg_wal_replay_pause()");
    const listed = seqs(last);
    assert.deepEqual(await held.end(), WRITTEN);
    assert.deepEqual(await listed, []);
    await standby.run("SELECT pg_wal_replay_resume()");
    const found = await all(6);
    assert.deepEqual(found.slice(4), found.slice(4).toSorted((a, b) => a - b));
  },
});
