/**
 * The books: what a batch of events does to them, inside one write. Every decision is made here, from what the store says at that
 * moment, so that any number of processes may spend one balance and none can spend what another holds.
 *
 * An event may come again after a failure of which nobody knows how far it got. So a charge is entered under its request's id,
 * once, and a reservation is taken back only where it is found.
 *
 * @module
 */
import type { Limits } from "./accounts.ts";
import { admit, type Refusal } from "./admission.ts";
import { BooksMemory } from "./books_memory.ts";
import { insertEntries, knownEntries, type NewEntry } from "./ledger_rows.ts";
import {
  deleteOpenCalls,
  type HeldCall,
  insertOpenCalls,
  readOpenCalls,
} from "./open_calls.ts";
import type { Charge, OpenCall } from "./records.ts";
import { settled, type Standing, topped, voided } from "./standing.ts";
import { readStandings, writeStandings } from "./standing_rows.ts";
import type { Dialect, Sql } from "./store.ts";
import { addUsage } from "./usage_rows.ts";

/** Money put into an account. */
export interface TopUp {
  /** No id is entered twice. */
  readonly id: string;
  /** Whose it is. */
  readonly accountId: string;
  /** The model whose own balance it goes to; empty for the account's. */
  readonly purse: string;
  /** Below zero takes out. */
  readonly microUsd: number;
  /** What it is for. */
  readonly note?: string;
  /** When it was put in. */
  readonly atMs: number;
}

/** Something that happens to an account. */
export type BookEvent =
  | {
    readonly type: "reserve";
    readonly call: OpenCall;
    readonly ownerId: string;
  }
  | {
    readonly type: "settle";
    readonly call: OpenCall;
    readonly charge: Charge;
    readonly atMs: number;
  }
  /** Takes back a reservation that nobody was told of. */
  | { readonly type: "void"; readonly call: OpenCall; readonly atMs: number }
  | ({ readonly type: "top_up" } & TopUp);

/** What became of an event. `again`: it is in the books already. */
export type Verdict =
  | { readonly type: "granted"; readonly limits: Limits }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "entered" }
  | { readonly type: "again" }
  | { readonly type: "no_account" };

/**
 * Enters events in their order. One verdict each. To be called inside {@linkcode Store.write}; `memory` is what the writer knows
 * of the books, and is kept up to date.
 */
export async function enter(
  sql: Sql,
  dialect: Dialect,
  events: readonly BookEvent[],
  memory: BooksMemory = new BooksMemory(),
): Promise<readonly Verdict[]> {
  memory.trim();
  await recall(sql, dialect, events, memory);
  const page: Page = {
    ...memory,
    granted: new Map(),
    closed: [],
    changed: new Set(),
    entries: [],
  };
  const verdicts = events.map((event) => turn(page, event));
  const changed: Standing[] = [];
  for (const id of page.changed) {
    const standing = page.standings.get(id);
    if (standing !== undefined) changed.push(standing);
  }
  await Promise.all([
    insertOpenCalls(sql, dialect, [...page.granted.values()]),
    deleteOpenCalls(sql, dialect, page.closed),
    insertEntries(sql, dialect, page.entries),
    addUsage(sql, dialect, page.entries),
    writeStandings(sql, dialect, changed),
    touchKeys(sql, dialect, events, memory.touchedMs),
  ]);
  return verdicts;
}

/** Reads what the events need and the memory lacks. */
async function recall(
  sql: Sql,
  dialect: Dialect,
  events: readonly BookEvent[],
  memory: BooksMemory,
): Promise<void> {
  const isEmpty = memory.standings.size === 0;
  const accountIds = new Set<string>();
  const ids = new Set<string>();
  for (const event of events) {
    const accountId = accountOf(event);
    if (!memory.standings.has(accountId)) accountIds.add(accountId);
    if (isEmpty || !memory.knows(event)) ids.add(idOf(event));
  }
  if (accountIds.size === 0 && ids.size === 0) return;
  const [standings, open, entered] = await Promise.all([
    readStandings(sql, dialect, [...accountIds]),
    readOpenCalls(sql, dialect, [...ids]),
    knownEntries(sql, dialect, [...ids]),
  ]);
  for (const [id, standing] of standings) memory.standings.set(id, standing);
  for (const [id, held] of open) memory.open.set(id, held);
  for (const id of entered) memory.entered.add(id);
}

/** The books as far as the batch touches them, while it is being gone through. */
interface Page {
  readonly standings: Map<string, Standing>;
  readonly open: Map<string, HeldCall>;
  readonly entered: Set<string>;
  /** Calls that were granted and are still under way. */
  readonly granted: Map<string, HeldCall>;
  /** Calls that are no longer under way and were before. */
  readonly closed: string[];
  /** Accounts that stand elsewhere now. */
  readonly changed: Set<string>;
  readonly entries: NewEntry[];
}

/** A call is no longer under way. */
function close(page: Page, id: string): void {
  if (!page.open.delete(id)) return;
  // One that was granted in this very batch has not been written.
  if (!page.granted.delete(id)) page.closed.push(id);
}

function turn(page: Page, event: BookEvent): Verdict {
  const id = idOf(event);
  const standing = page.standings.get(accountOf(event));
  if (standing === undefined) return { type: "no_account" };
  const to = (next: Standing): void => {
    page.standings.set(standing.account.id, next);
    page.changed.add(standing.account.id);
  };
  const held = page.open.get(id);
  switch (event.type) {
    case "reserve": {
      if (held !== undefined || page.entered.has(id)) return { type: "again" };
      const { call, ownerId } = event;
      const admission = admit(standing, call, call.atMs);
      if (!admission.granted) {
        return { type: "refused", refusal: admission.refusal };
      }
      to(admission.standing);
      const granted = { call, ownerId, purse: admission.purse };
      page.open.set(id, granted);
      page.granted.set(id, granted);
      return { type: "granted", limits: admission.limits };
    }
    case "settle": {
      if (page.entered.has(id)) return { type: "again" };
      const { charge, atMs } = event;
      // What was reserved is what the books say was reserved.
      const call = held?.call ?? event.call;
      const purse = held?.purse ??
        (standing.purses.has(call.model) ? call.model : "");
      to(settled(standing, call, purse, charge, held !== undefined, atMs));
      close(page, id);
      page.entered.add(id);
      page.entries.push({ type: "charge", call, charge, purse, atMs });
      return { type: "entered" };
    }
    case "void":
      if (held === undefined) return { type: "again" };
      to(voided(standing, held.call, held.purse, event.atMs));
      close(page, id);
      return { type: "entered" };
    case "top_up":
      if (page.entered.has(id)) return { type: "again" };
      to(topped(standing, event.purse, event.microUsd));
      page.entered.add(id);
      page.entries.push(event);
      return { type: "entered" };
  }
}

function idOf(event: BookEvent): string {
  return event.type === "top_up" ? event.id : event.call.requestId;
}

function accountOf(event: BookEvent): string {
  return event.type === "top_up" ? event.accountId : event.call.accountId;
}

const TOUCH_MS = 60_000;

/** Notes when keys were last used; to the minute, so that a busy key is not written with every call. */
async function touchKeys(
  sql: Sql,
  dialect: Dialect,
  events: readonly BookEvent[],
  touchedMs: Map<string, number>,
): Promise<void> {
  const keyIds = new Set<string>();
  let atMs = 0;
  for (const event of events) {
    if (event.type !== "reserve") continue;
    const { call } = event;
    if (call.atMs < (touchedMs.get(call.keyId) ?? -Infinity) + TOUCH_MS) {
      continue;
    }
    keyIds.add(call.keyId);
    atMs = Math.max(atMs, call.atMs);
  }
  if (keyIds.size === 0) return;
  for (const id of keyIds) touchedMs.set(id, atMs);
  await sql.all(
    `UPDATE keys SET last_used_at_ms = $2 WHERE id IN ${
      dialect.texts(1)
    } AND (last_used_at_ms IS NULL OR last_used_at_ms <= $3)`,
    [JSON.stringify([...keyIds]), atMs, atMs - TOUCH_MS],
  );
}
