/**
 * Writes the events of accounts beside the writes of other accounts.
 */
import { accountOf, type EventResult, type LedgerEvent } from "./events.ts";
import { decideEvents } from "./transaction.ts";
import { WriteCache } from "./write_cache.ts";
import type { ParallelWrites, SqlDialect } from "../store/store.ts";

/** What a write has done. */
interface WrittenEvents {
  /** One result per event, in order; undefined: its account is locked by another write. */
  readonly results: readonly (EventResult | undefined)[];
  /** The state that it left. */
  readonly cache: WriteCache;
}

/** A key that is forgotten is written once more than needed. */
const MAX_KEYS = 5_000;

/**
 * Applies events in order as one write. `usedAtMs` are the times of last use that this process wrote
 * for keys, which its writes share.
 */
export async function writeAccounts(
  { commit }: ParallelWrites,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  usedAtMs: Map<string, number> = new Map(),
): Promise<WrittenEvents> {
  const accountIds = [...new Set(events.map(accountOf))];
  const written = await commit(accountIds, async (sql, locked) => {
    const cache = new WriteCache();
    for (const event of events) {
      if (event.type !== "reserve") continue;
      const atMs = usedAtMs.get(event.call.keyId);
      if (atMs !== undefined) cache.usedAtMs.set(event.call.keyId, atMs);
    }
    const { value, write } = await decideEvents(
      sql,
      dialect,
      events,
      cache,
      locked,
    );
    return { value: { results: value, cache }, write };
  });
  // After the commit: the events of a write that failed come again.
  if (usedAtMs.size > MAX_KEYS) usedAtMs.clear();
  for (const [id, atMs] of written.cache.usedAtMs) usedAtMs.set(id, atMs);
  return written;
}
