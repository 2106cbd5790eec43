/**
 * The calls that ended in the last seconds, as many as the live list shows; the rest is counted.
 */
import type { CallRecord } from "../accounts/calls/call_record.ts";
import { outcomeOf } from "../accounts/calls/outcome.ts";
import type { EndedTurn, JustEnded } from "./live_call.ts";

/** Calls of one turn that are shown, of all accounts and of one. */
const MAX_CALLS = 100;
const MAX_OF_ACCOUNT = 20;
/** Accounts whose left-out calls are counted one by one. */
const MAX_COUNTED = 200;
/** Turns that are kept: a reader that looks once a turn misses none. */
const KEPT_TURNS = 4;

/** Collects the calls that end. */
export class EndedCalls {
  #turn = 0;
  #total = 0;
  #data: CallRecord[] = [];
  #ofAccount = new Map<string, number>();
  #left = new Map<string, number>();
  #kept: EndedTurn[] = [];

  /** Adds a call that has ended. Takes constant time. */
  add(record: CallRecord): void {
    this.#total++;
    const { accountId } = record;
    const count = this.#ofAccount.get(accountId) ?? 0;
    if (this.#data.length < MAX_CALLS && count < MAX_OF_ACCOUNT) {
      this.#ofAccount.set(accountId, count + 1);
      this.#data.push(record);
      return;
    }
    const left = this.#left.get(accountId);
    if (left !== undefined || this.#left.size < MAX_COUNTED) {
      this.#left.set(accountId, (left ?? 0) + 1);
    }
  }

  /** Ends a turn. */
  nextTurn(): void {
    this.#turn++;
    if (this.#total > 0) {
      this.#kept.push({
        turn: this.#turn,
        total: this.#total,
        left: Object.fromEntries(this.#left),
        data: this.#data.map(justEnded),
      });
      this.#total = 0;
      this.#data = [];
      this.#ofAccount = new Map();
      this.#left = new Map();
    }
    this.#kept = this.#kept.filter(({ turn }) =>
      turn > this.#turn - KEPT_TURNS
    );
  }

  /** The calls of the last turns, oldest turn first. */
  recent(): readonly EndedTurn[] {
    return this.#kept;
  }
}

/** The part of a record that the live list shows. */
export function justEnded(record: CallRecord): JustEnded {
  return {
    requestId: record.requestId,
    accountId: record.accountId,
    keyId: record.keyId,
    endpoint: record.endpoint,
    ended: record.ended,
    outcome: outcomeOf(record),
    microUsd: record.microUsd,
    estimated: record.estimated,
    model: record.model,
    stream: record.stream,
    status: record.status,
    code: record.code,
    durationMs: record.durationMs,
    firstByteMs: record.firstByteMs,
    firstTokenMs: record.firstTokenMs,
    outputTokens: record.outputTokens,
    upstream: record.upstream,
  };
}
