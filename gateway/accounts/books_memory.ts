/**
 * What the books remember of their own last writes, so that the next one need not read it back. It holds only as long as nobody
 * else has written (see {@linkcode Store.write}); then it is forgotten as a whole.
 *
 * @module
 */
import type { BookEvent } from "./books.ts";
import type { HeldCall } from "./open_calls.ts";
import type { Standing } from "./standing.ts";

const MAX_ACCOUNTS = 5_000;
const MAX_ENTERED = 50_000;

/** The memory of one writer. */
export class BooksMemory {
  /** Where accounts stand. */
  readonly standings: Map<string, Standing> = new Map();
  /** Calls under way that this writer entered. */
  readonly open: Map<string, HeldCall> = new Map();
  /** Ids under which something was entered. */
  readonly entered: Set<string> = new Set();
  /** When keys were last noted as used, by key. */
  readonly touchedMs: Map<string, number> = new Map();

  /** Forgets all. */
  forget(): void {
    this.standings.clear();
    this.open.clear();
    this.entered.clear();
    this.touchedMs.clear();
  }

  /** Whether it is known what the books hold of an event's call. A reservation's id is new: it was made for it. */
  knows(event: BookEvent): boolean {
    if (event.type === "reserve") return true;
    if (event.type === "top_up") return false;
    const id = event.call.requestId;
    return this.open.has(id) || this.entered.has(id);
  }

  /** Keeps it from growing without end. Calls under way stay: they are as many as are under way. */
  trim(): void {
    if (this.standings.size > MAX_ACCOUNTS) this.standings.clear();
    if (this.entered.size > MAX_ENTERED) this.entered.clear();
    if (this.touchedMs.size > MAX_ACCOUNTS) this.touchedMs.clear();
  }
}
