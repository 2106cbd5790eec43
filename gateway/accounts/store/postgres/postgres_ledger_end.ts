/**
 * Up to which number the ledger on Postgres has all entries that it will have.
 */
import { intOf, type Sql, textOf } from "../store.ts";

/** Between two looks. */
const FIRST_LOOK_MS = 2;
const MAX_LOOK_MS = 50;
/** How long a list waits for a replica to have what the store has. */
const REPLICA_MS = 500;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Numbers are given out in order, but appear when their writes commit. The last number is the end
 * once every write has ended that was under way when it was read; later ones have higher numbers,
 * because a write draws them after it has taken the lock that all writes share. That lock is looked
 * up, not taken.
 */
export async function ledgerEnd(
  all: Sql["all"],
  lock: number,
  mostMs: number,
): Promise<number> {
  const [row] = await all(
    "SELECT COALESCE(pg_sequence_last_value(pg_get_serial_sequence('ledger', 'seq')), 0) AS seq",
  );
  const end = row === undefined ? 0 : intOf(row, "seq");
  const running = async (): Promise<readonly string[]> => {
    const rows = await all(
      "SELECT virtualtransaction AS id FROM pg_locks WHERE locktype = 'advisory' AND granted " +
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) " +
        `AND objsubid = 1 AND classid = ${
          Math.floor(lock / 2 ** 32)
        } AND objid = ${lock % 2 ** 32}`,
    );
    return rows.map((one) => textOf(one, "id"));
  };
  let lookMs = FIRST_LOOK_MS;
  let open = new Set(await running());
  const giveUpMs = performance.now() + mostMs;
  while (open.size > 0) {
    if (performance.now() > giveUpMs) {
      throw new Error("writes of the ledger do not end");
    }
    await pause(lookMs);
    lookMs = Math.min(MAX_LOOK_MS, lookMs * 2);
    open = open.intersection(new Set(await running()));
  }
  return end;
}

/**
 * The same of a replica that is behind: a number that the store has noted after all entries up to
 * it, in the order in which the replica applies writes. A replica that is far behind has an older
 * note.
 */
export async function ledgerEndOnReplica(
  store: Sql["all"],
  replica: Sql["all"],
  end: number,
): Promise<number> {
  await store("UPDATE ledger_end SET seq = $1 WHERE id = 1 AND seq < $1", [
    end,
  ]);
  const giveUpMs = performance.now() + REPLICA_MS;
  for (;;) {
    const [row] = await replica("SELECT seq FROM ledger_end");
    const noted = row === undefined ? 0 : intOf(row, "seq");
    if (noted >= end) return end;
    if (performance.now() > giveUpMs) return noted;
    await pause(MAX_LOOK_MS);
  }
}
