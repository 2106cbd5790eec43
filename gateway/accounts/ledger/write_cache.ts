/**
 * Caches the state that the last writes left, so that the next write need not read it back.
 * Valid only while no other writer has written (see {@linkcode Store.write}); otherwise it
 * is cleared as a whole.
 */
import type { LedgerEvent } from "./events.ts";
import type { StoredReservation } from "../rows/reservation_rows.ts";
import type { AccountState } from "./account_state.ts";
import type { KeyState } from "./key_state.ts";

const MAX_ACCOUNTS = 5_000;
/** An event comes again soon, or never. */
const MAX_ENTRY_IDS = 1_000;

/** The cache of one writer. */
export class WriteCache {
  readonly states: Map<string, AccountState> = new Map();
  /** Key states, by key; undefined: the key has no limits. */
  readonly keyStates: Map<string, KeyState | undefined> = new Map();
  /** Active calls that this writer entered. */
  readonly reservations: Map<string, StoredReservation> = new Map();
  /** Ids under which an entry was made. */
  readonly enteredIds: Set<string> = new Set();
  /** Ids of calls that were charged as lost and may have to be corrected. */
  readonly lostIds: Set<string> = new Set();
  /** Time of last use last written for a key, by key. */
  readonly usedAtMs: Map<string, number> = new Map();

  clear(): void {
    this.states.clear();
    this.keyStates.clear();
    this.reservations.clear();
    this.enteredIds.clear();
    this.lostIds.clear();
    this.usedAtMs.clear();
  }

  /**
   * Whether the cache knows the stored state of an event's call. A reservation's id is
   * always new.
   */
  knows(event: LedgerEvent): boolean {
    if (event.type === "reserve") return true;
    if (event.type === "top_up") return false;
    const id = event.call.requestId;
    return this.reservations.has(id) || this.enteredIds.has(id);
  }

  /** Bounds the cache. Active calls stay: their number is bounded by the concurrency limit. */
  trim(): void {
    if (this.states.size > MAX_ACCOUNTS) this.states.clear();
    if (this.keyStates.size > MAX_ACCOUNTS) this.keyStates.clear();
    for (const oldest of this.enteredIds) {
      if (this.enteredIds.size <= MAX_ENTRY_IDS) break;
      this.enteredIds.delete(oldest);
      this.lostIds.delete(oldest);
    }
    if (this.usedAtMs.size > MAX_ACCOUNTS) this.usedAtMs.clear();
  }
}
