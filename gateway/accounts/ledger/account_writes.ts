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

/** Applies events in order as one write. */
export async function writeAccounts(
  { commit }: ParallelWrites,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
): Promise<WrittenEvents> {
  const accountIds = [...new Set(events.map(accountOf))];
  return await commit(accountIds, async (sql, locked) => {
    const cache = new WriteCache();
    const { value, write } = await decideEvents(
      sql,
      dialect,
      events,
      cache,
      locked,
    );
    return { value: { results: value, cache }, write };
  });
}
