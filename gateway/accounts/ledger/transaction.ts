/**
 * Applies a batch of ledger events inside one database write. Every decision is made here, from the
 * stored state at that moment, which no other write changes meanwhile, so that any number of
 * processes can spend one balance and none can spend what another has reserved.
 *
 * An event may be repeated after a failure with an unknown outcome. So a charge is entered
 * once under its request id, and a reservation is undone only if it is found.
 *
 * A call whose process could not reach the store, or was suspended, may have been charged as
 * lost by another process when its own settlement arrives: then the estimate is corrected.
 */
import { admit, type Refusal } from "./admission.ts";
import { WriteCache } from "./write_cache.ts";
import {
  insertEntries,
  knownEntries,
  type NewEntry,
  uncorrectedEntries,
} from "../rows/ledger_rows.ts";
import {
  deleteReservations,
  insertReservations,
  readReservations,
  type StoredReservation,
} from "../rows/reservation_rows.ts";
import {
  type AccountState,
  advanceTo,
  applyCorrection,
  applySettlement,
  applyTopUp,
  applyVoid,
} from "./account_state.ts";
import {
  readAccountStates,
  writeAccountStates,
} from "../rows/account_state_rows.ts";
import type { CallOutcome } from "../call_outcome.ts";
import type { Charge, LedgerEntry, ReservedCall } from "../records.ts";
import { correctCall } from "../rows/call_rows.ts";
import type { Sql, SqlDialect, Staged } from "../store/store.ts";
import { chargeFor } from "../charges/charge.ts";
import { type Correction, lateAmount } from "./correction.ts";
import { readKeyStates, writeKeyStates } from "../rows/key_state_rows.ts";
import { addLedgerDays } from "../rows/ledger_day_rows.ts";
import { addUsage } from "../rows/usage_rows.ts";
import { insertMessages, type NewMessage } from "../rows/webhook_rows.ts";
import { randomText } from "../key.ts";
import { warn, type Warning, warnOfBalance } from "../limits/limit_warnings.ts";
import { accountOf, type EventResult, type LedgerEvent } from "./events.ts";
import {
  correctOnKey,
  keyAt,
  type KeyState,
  settleOnKey,
  voidOnKey,
} from "./key_state.ts";

/** The outcome of a call that was refused because the outcome of its reservation was unknown. */
const NEVER_MADE: CallOutcome = {
  usage: {},
  generatedChars: 0,
  ended: "refused",
};

/**
 * Applies events in order and returns one result for each. Call it inside
 * {@linkcode Store.write}; `cache` holds the state across writes and is updated.
 */
export async function applyEvents(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  cache: WriteCache = new WriteCache(),
): Promise<readonly EventResult[]> {
  await sql.lockAccounts?.([...new Set(events.map(accountOf))]);
  const { value, write } = await decideEvents(sql, dialect, events, cache);
  await write(sql);
  return value.map((result) => {
    if (result === undefined) throw new Error("an event was not applied");
    return result;
  });
}

/**
 * Decides events: reads what they need and updates `cache`. What is to be written needs no further
 * reads. `locked` gives the accounts that this write may change; absent: all. Events of other
 * accounts have no result.
 */
export async function decideEvents(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  cache: WriteCache,
  locked?: Promise<ReadonlySet<string>>,
): Promise<Staged<readonly (EventResult | undefined)[]>> {
  cache.trim();
  const [mayChange] = await Promise.all([
    locked,
    loadState(sql, dialect, events, cache),
  ]);
  // An account that does not exist has no lock, and nothing to change.
  const isDecided = (event: LedgerEvent): boolean =>
    mayChange === undefined || mayChange.has(accountOf(event)) ||
    !cache.states.has(accountOf(event));
  const batch: Batch = {
    ...cache,
    lost: await lostEntries(sql, dialect, events, cache),
    granted: new Map(),
    endedIds: [],
    changedIds: new Set(),
    changedKeyIds: new Set(),
    entries: [],
    messages: [],
  };
  const value = events.map((event) =>
    isDecided(event) ? applyEvent(batch, event) : undefined
  );
  const decided = events.filter(isDecided);
  return {
    value,
    write: (sql) => writeBatch(sql, dialect, decided, batch, cache),
  };
}

async function writeBatch(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  batch: Batch,
  cache: WriteCache,
): Promise<void> {
  const corrections = batch.entries.filter((entry) =>
    entry.type === "correction"
  );
  await Promise.all([
    insertReservations(sql, dialect, [...batch.granted.values()]),
    deleteReservations(sql, dialect, batch.endedIds),
    insertEntries(sql, dialect, batch.entries),
    // After the entries: statements run in this order.
    addLedgerDays(sql, dialect, batch.entries),
    addUsage(sql, dialect, batch.entries),
    writeAccountStates(sql, dialect, pick(batch.states, batch.changedIds)),
    writeKeyStates(sql, pick(batch.keyStates, batch.changedKeyIds)),
    updateLastUse(sql, dialect, events, cache.usedAtMs),
    insertMessages(sql, batch.messages),
    ...(corrections.length === 0 ? [] : [sql.lockNamed?.("calls")]),
    ...corrections.map(({ call, charge }) =>
      correctCall(sql, dialect, call, charge)
    ),
  ]);
}

/** The values of these keys, as far as there are any. */
function pick<T>(
  values: ReadonlyMap<string, T | undefined>,
  keys: Iterable<string>,
): readonly T[] {
  const picked: T[] = [];
  for (const key of keys) {
    const value = values.get(key);
    if (value !== undefined) picked.push(value);
  }
  return picked;
}

/** Reads the state that the events need and the cache lacks. */
async function loadState(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  cache: WriteCache,
): Promise<void> {
  const isEmpty = cache.states.size === 0;
  const accountIds = new Set<string>();
  const keyIds = new Set<string>();
  const ids = new Set<string>();
  for (const event of events) {
    const accountId = accountOf(event);
    if (!cache.states.has(accountId)) accountIds.add(accountId);
    if (event.type !== "top_up" && !cache.keyStates.has(event.call.keyId)) {
      keyIds.add(event.call.keyId);
    }
    if (isEmpty || !cache.knows(event)) ids.add(idOf(event));
  }
  if (accountIds.size === 0 && keyIds.size === 0 && ids.size === 0) return;
  const [states, keyStates, reservations, enteredIds] = await Promise.all([
    readAccountStates(sql, dialect, [...accountIds]),
    readKeyStates(sql, dialect, [...keyIds]),
    readReservations(sql, dialect, [...ids]),
    knownEntries(sql, dialect, [...ids]),
  ]);
  for (const [id, state] of states) cache.states.set(id, state);
  for (const id of keyIds) cache.keyStates.set(id, keyStates.get(id));
  for (const [id, reservation] of reservations) {
    cache.reservations.set(id, reservation);
  }
  for (const [id, ended] of enteredIds) {
    cache.enteredIds.add(id);
    if (ended === "lost") cache.lostIds.add(id);
  }
}

/** The entries that the events may have to correct. */
async function lostEntries(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  { lostIds }: WriteCache,
): Promise<Map<string, LedgerEntry>> {
  const ids = lostIds.size === 0
    ? []
    : events.flatMap((event) =>
      event.type !== "top_up" && lostIds.has(event.call.requestId)
        ? [event.call.requestId]
        : []
    );
  return ids.length === 0
    ? new Map()
    : new Map(await uncorrectedEntries(sql, dialect, ids));
}

/** The state that a batch reads and changes. */
interface Batch {
  readonly states: Map<string, AccountState>;
  readonly keyStates: Map<string, KeyState | undefined>;
  readonly reservations: Map<string, StoredReservation>;
  readonly enteredIds: Set<string>;
  /** Ids of calls charged as lost. */
  readonly lostIds: ReadonlySet<string>;
  /** Entries of calls charged as lost, by request id, that are not corrected. */
  readonly lost: Map<string, LedgerEntry>;
  /** Calls granted in this batch that are still active. */
  readonly granted: Map<string, StoredReservation>;
  /** Ids of calls that were active before this batch and no longer are. */
  readonly endedIds: string[];
  /** Ids of the accounts that this batch changed. */
  readonly changedIds: Set<string>;
  /** Ids of the keys whose state this batch changed. */
  readonly changedKeyIds: Set<string>;
  readonly entries: NewEntry[];
  /** Warnings to send. */
  readonly messages: NewMessage[];
}

function setState(batch: Batch, state: AccountState): void {
  batch.states.set(state.account.id, state);
  batch.changedIds.add(state.account.id);
}

function setKeyState(batch: Batch, state: KeyState): void {
  batch.keyStates.set(state.id, state);
  batch.changedKeyIds.add(state.id);
}

/** Marks a call as no longer active. */
function endCall(batch: Batch, id: string): void {
  if (!batch.reservations.delete(id)) return;
  // A call that this batch granted has no row yet.
  if (!batch.granted.delete(id)) batch.endedIds.push(id);
}

function applyEvent(batch: Batch, event: LedgerEvent): EventResult {
  const id = idOf(event);
  const state = batch.states.get(accountOf(event));
  if (state === undefined) return { type: "no_account" };
  const update = (next: AccountState): void => setState(batch, next);
  const updateKey = (next: KeyState): void => setKeyState(batch, next);
  const key = event.type === "top_up"
    ? undefined
    : batch.keyStates.get(event.call.keyId);
  const reservation = batch.reservations.get(id);
  switch (event.type) {
    case "reserve": {
      if (reservation !== undefined || batch.enteredIds.has(id)) {
        return { type: "duplicate" };
      }
      const { call, leaseId } = event;
      const admission = admit(state, key, call, call.atMs);
      if (!admission.granted) {
        const { refusal } = admission;
        warnOfRefusal(batch, state, key, refusal, call.atMs);
        return { type: "refused", refusal };
      }
      update(admission.state);
      if (admission.key !== undefined) updateKey(admission.key);
      const granted: StoredReservation = {
        call,
        leaseId,
        balanceModel: admission.balanceModel,
      };
      batch.reservations.set(id, granted);
      batch.granted.set(id, granted);
      return { type: "granted", limits: admission.limits };
    }
    case "settle": {
      const { charge, atMs } = event;
      if (batch.enteredIds.has(id)) {
        return correct(batch, state, key, event.call, charge, atMs);
      }
      // The stored reservation is authoritative.
      const call = reservation?.call ?? event.call;
      const balanceModel = reservation?.balanceModel ??
        (state.modelBalances.has(call.model) ? call.model : "");
      const wasReserved = reservation !== undefined;
      const settled = applySettlement(
        state,
        call,
        balanceModel,
        charge,
        wasReserved,
        atMs,
      );
      update(markWarned(batch, settled, atMs));
      if (key !== undefined) {
        const next = settleOnKey(key, call, charge, wasReserved, atMs);
        updateKey(warnedKey(batch, next, call.accountId, atMs));
      }
      endCall(batch, id);
      batch.enteredIds.add(id);
      batch.entries.push({
        type: "charge",
        call,
        charge,
        balanceModel,
        atMs,
      });
      return { type: "entered" };
    }
    case "void": {
      if (reservation === undefined) {
        const charge = chargeFor(event.call, NEVER_MADE);
        return correct(batch, state, key, event.call, charge, event.atMs);
      }
      const { call, balanceModel } = reservation;
      const { atMs, wasMade } = event;
      update(applyVoid(state, call, balanceModel, atMs, wasMade));
      if (key !== undefined) updateKey(voidOnKey(key, call, atMs, wasMade));
      endCall(batch, id);
      return { type: "entered" };
    }
    case "top_up":
      if (batch.enteredIds.has(id)) return { type: "duplicate" };
      update(
        markWarned(
          batch,
          applyTopUp(state, event.balanceModel, event.microUsd),
          event.atMs,
        ),
      );
      batch.enteredIds.add(id);
      batch.entries.push(event);
      return { type: "entered" };
  }
}

/** Corrects the entry of a call that was charged as lost; does nothing if there is none. */
function correct(
  batch: Batch,
  state: AccountState,
  key: KeyState | undefined,
  call: ReservedCall,
  charge: Charge,
  atMs: number,
): EventResult {
  const lost = batch.lost.get(call.requestId);
  // Two processes may find the same call lost.
  if (charge.ended === "lost") return { type: "duplicate" };
  if (lost === undefined) {
    return batch.lostIds.has(call.requestId)
      ? { type: "duplicate", isCorrected: true }
      : { type: "duplicate" };
  }
  batch.lost.delete(call.requestId);
  const correction: Correction = {
    type: "correction",
    call,
    charge,
    lost,
    atMs: lost.atMs,
  };
  const late = lateAmount(correction);
  const next = applyCorrection(state, lost.balanceModel ?? "", late, atMs);
  setState(batch, markWarned(batch, next, atMs));
  if (key !== undefined) {
    const nextKey = correctOnKey(key, late, atMs);
    setKeyState(batch, warnedKey(batch, nextKey, call.accountId, atMs));
  }
  batch.entries.push(correction);
  return { type: "corrected" };
}

/** The state with the warnings marked that are due and are now sent. */
function markWarned(
  batch: Batch,
  state: AccountState,
  atMs: number,
  refusedBy?: number,
): AccountState {
  const { account } = state;
  const limits = warn(state.use, state.plan, "account", refusedBy);
  const balance = warnOfBalance(limits.use, account);
  addMessages(batch, limits.warnings, account.id, undefined, atMs);
  addMessages(batch, balance.warnings, account.id, undefined, atMs);
  return balance.use === state.use ? state : { ...state, use: balance.use };
}

/** As {@linkcode markWarned}, for a key. */
function warnedKey(
  batch: Batch,
  state: KeyState,
  accountId: string,
  atMs: number,
  refusedBy?: number,
): KeyState {
  const { use, warnings } = warn(state.use, state.limits, "key", refusedBy);
  addMessages(batch, warnings, accountId, state.id, atMs);
  return use === state.use ? state : { ...state, use };
}

/** A refusal changes nothing, except that it may be the first of its window. */
function warnOfRefusal(
  batch: Batch,
  state: AccountState,
  key: KeyState | undefined,
  { exceeded }: Refusal,
  atMs: number,
): void {
  if (exceeded?.window === undefined) return;
  if (exceeded.holder === "account") {
    const before = advanceTo(state, atMs);
    const next = markWarned(batch, before, atMs, exceeded.window);
    if (next !== before) setState(batch, next);
  } else if (key !== undefined) {
    const before = keyAt(key, atMs);
    const { id } = state.account;
    const next = warnedKey(batch, before, id, atMs, exceeded.window);
    if (next !== before) setKeyState(batch, next);
  }
}

function addMessages(
  batch: Batch,
  warnings: readonly Warning[],
  accountId: string,
  keyId: string | undefined,
  atMs: number,
): void {
  for (const { type, data } of warnings) {
    batch.messages.push({
      id: `msg_${randomText(24)}`,
      accountId,
      body: JSON.stringify({
        type,
        timestamp: new Date(atMs).toISOString(),
        data: { account: accountId, key: keyId ?? null, ...data },
      }),
      atMs,
    });
  }
}

function idOf(event: LedgerEvent): string {
  return event.type === "top_up" ? event.id : event.call.requestId;
}

const USE_INTERVAL_MS = 60_000;

/**
 * Updates the keys' time of last use. Exact to the minute, so that a busy key is not
 * written with every call.
 */
async function updateLastUse(
  sql: Sql,
  dialect: SqlDialect,
  events: readonly LedgerEvent[],
  usedAtMs: Map<string, number>,
): Promise<void> {
  const keyIds = new Set<string>();
  let atMs = 0;
  for (const event of events) {
    if (event.type !== "reserve") continue;
    const { call } = event;
    if (call.atMs < (usedAtMs.get(call.keyId) ?? -Infinity) + USE_INTERVAL_MS) {
      continue;
    }
    keyIds.add(call.keyId);
    atMs = Math.max(atMs, call.atMs);
  }
  if (keyIds.size === 0) return;
  for (const id of keyIds) usedAtMs.set(id, atMs);
  await sql.all(
    `UPDATE keys SET last_used_at_ms = $2 WHERE id IN ${
      dialect.texts(1)
    } AND (last_used_at_ms IS NULL OR last_used_at_ms <= $3)`,
    [JSON.stringify([...keyIds]), atMs, atMs - USE_INTERVAL_MS],
  );
}
