/**
 * Foresees whether admission will grant a call, so that its upstream can be called while its
 * reservation is being written.
 *
 * A forecast decides nothing: the write does, from the stored state, and no byte of a reply is sent
 * before it. A wrong forecast costs an upstream call that is cancelled. It is rare: a forecast uses
 * the state that the last write of this process left a moment ago, counts the calls that are not
 * decided yet, and requires room for several calls like the next one. So it is wrong only if other
 * processes, or calls that used more than was estimated, took all of that within the moment.
 */
import type { LimitSettings, ReservedCall } from "../records.ts";
import type { AccountState } from "./account_state.ts";
import type { LedgerEvent } from "./events.ts";
import type { KeyState } from "./key_state.ts";
import {
  type LimitUse,
  minuteLimits,
  useAt,
  worstCase,
} from "../limits/limit_use.ts";
import { type Amount, WINDOW_LIMITS } from "../limits/window_limits.ts";
import type { WriteCache } from "./write_cache.ts";

/** How many calls like the next one must fit beside those that are not decided yet. */
const ROOM = 10;
/** Age of a state from which nothing is foreseen: other processes may have spent much since. */
const MAX_AGE_MS = 1000;
const MAX_ACCOUNTS = 5_000;

/** What calls need at most. */
interface Demand extends Amount {
  /** Number of calls. */
  readonly calls: number;
}

/** Forecasts of one process. */
export class Foresight {
  readonly #now: () => number;
  /** By account, as the last write that concerned it left it. */
  readonly #states = new Map<string, AccountState>();
  /** By key, as the last write that concerned it left it; its account's state is equally recent. */
  readonly #keyStates = new Map<string, KnownKey>();
  /** What the calls need that are not decided yet, by account. */
  readonly #undecided = new Map<string, Demand>();

  /** Takes the current Unix time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether admission will very probably grant the call. */
  grants(call: ReservedCall): boolean {
    const nowMs = this.#now();
    const account = this.#states.get(call.accountId);
    const key = this.#keyStates.get(call.keyId);
    if (
      account === undefined || key === undefined ||
      key.atMs < nowMs - MAX_AGE_MS
    ) return false;
    const undecided = this.#undecided.get(call.accountId) ?? NOTHING;
    return leavesRoom(
      account,
      key.state,
      call,
      plus(undecided, demandOf(call), ROOM),
      nowMs,
    );
  }

  /** Counts a call that waits for its decision. */
  begin(call: ReservedCall): void {
    const undecided = this.#undecided.get(call.accountId) ?? NOTHING;
    this.#undecided.set(call.accountId, plus(undecided, demandOf(call), 1));
  }

  /** Counts the call no longer: it is decided, or was not written. */
  end(call: ReservedCall): void {
    const undecided = this.#undecided.get(call.accountId) ?? NOTHING;
    if (undecided.calls <= 1) this.#undecided.delete(call.accountId);
    else {
      this.#undecided.set(call.accountId, plus(undecided, demandOf(call), -1));
    }
  }

  /** Keeps the states that a committed write left in the cache. */
  learn(events: readonly LedgerEvent[], cache: WriteCache): void {
    const atMs = this.#now();
    if (this.#states.size > MAX_ACCOUNTS) this.#states.clear();
    if (this.#keyStates.size > MAX_ACCOUNTS) this.#keyStates.clear();
    for (const event of events) {
      const accountId = event.type === "top_up"
        ? event.accountId
        : event.call.accountId;
      const state = cache.states.get(accountId);
      if (state === undefined) continue;
      this.#states.set(accountId, state);
      if (event.type === "top_up") continue;
      const { keyId } = event.call;
      this.#keyStates.set(keyId, { state: cache.keyStates.get(keyId), atMs });
    }
  }
}

interface KnownKey {
  /** Absent: the key has no limits. */
  readonly state: KeyState | undefined;
  /** Unix time in milliseconds at which it was the stored state. */
  readonly atMs: number;
}

/** Whether the states have room for `demand`, made by calls of this call's model. */
function leavesRoom(
  { account, plan, modelBalances, use }: AccountState,
  key: KeyState | undefined,
  { model }: Pick<ReservedCall, "model">,
  demand: Demand,
  nowMs: number,
): boolean {
  if (account.status === "disabled") return false;
  if (plan.models !== undefined && !plan.models.includes(model)) return false;
  const modelBalance = modelBalances.get(model);
  if (modelBalance !== undefined || account.billing === "prepaid") {
    const { balanceMicroUsd, reservedMicroUsd } = modelBalance ?? account;
    if (balanceMicroUsd - reservedMicroUsd < demand.microUsd) return false;
  }
  return fits(use, plan, demand, nowMs) &&
    (key === undefined || fits(key.use, key.limits, demand, nowMs));
}

function fits(
  before: LimitUse,
  limits: LimitSettings,
  demand: Demand,
  nowMs: number,
): boolean {
  const use = useAt(before, limits, nowMs);
  const { requests, tokens } = minuteLimits(use, limits);
  if (
    (requests !== undefined && requests.remaining < demand.calls) ||
    (tokens !== undefined && tokens.remaining < demand.tokens) ||
    (limits.concurrentRequests !== undefined &&
      use.openRequests + demand.calls > limits.concurrentRequests)
  ) return false;
  return WINDOW_LIMITS.every(({ field, window, unit }) => {
    const limit = limits[field];
    return limit === undefined ||
      use.used[window][unit] + use.reserved[unit] + demand[unit] <= limit;
  });
}

const NOTHING: Demand = { calls: 0, tokens: 0, microUsd: 0 };

/** What one call needs at most. */
function demandOf(call: ReservedCall): Demand {
  return { calls: 1, ...worstCase(call) };
}

function plus(one: Demand, other: Demand, times: number): Demand {
  return {
    calls: one.calls + other.calls * times,
    tokens: one.tokens + other.tokens * times,
    microUsd: one.microUsd + other.microUsd * times,
  };
}
