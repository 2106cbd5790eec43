/**
 * Which callers may count tokens. Where a limit of a minute is to hold, each count is written as a
 * reservation is; otherwise one that was granted holds for a while, so that most cost no write.
 */
import type { Caller } from "./accounts.ts";
import { countReservation, endOfCount } from "./ledger/count_of_tokens.ts";
import type { WriteBatcher } from "./ledger/write_batcher.ts";
import type { LimitSettings, ReservedCall } from "./records.ts";
import { grantedLimits } from "./reservation.ts";

const HOLDS_MS = 10_000;

type CountedCall = Parameters<typeof countReservation>[0];

export class CountRights {
  readonly #batcher: Pick<WriteBatcher, "reserve" | "enqueue">;
  readonly #leaseId: string;
  readonly #now: () => number;
  /** The model and time of the last count that was granted. */
  readonly #granted = new WeakMap<
    Caller,
    Pick<ReservedCall, "model" | "atMs">
  >();

  /** Takes the current Unix time in milliseconds. */
  constructor(
    batcher: Pick<WriteBatcher, "reserve" | "enqueue">,
    leaseId: string,
    now: () => number,
  ) {
    this.#batcher = batcher;
    this.#leaseId = leaseId;
    this.#now = now;
  }

  /**
   * Begins a count; returns what ends it.
   *
   * @param limits those of the plan and the key
   * @throws {RefusedCall} where a call would be refused
   */
  async begin(
    caller: Caller,
    counted: CountedCall,
    limits: readonly LimitSettings[],
  ): Promise<() => void> {
    const isWritten = limits.some((one) =>
      one.requestsPerMinute !== undefined ||
      one.concurrentRequests !== undefined
    );
    const last = this.#granted.get(caller);
    if (
      !isWritten && last?.model === counted.model &&
      counted.atMs - last.atMs <= HOLDS_MS
    ) return () => {};
    const call = countReservation(counted);
    const queued = this.#batcher.reserve({
      type: "reserve",
      call,
      leaseId: this.#leaseId,
    });
    queued.hurry();
    const { result } = await queued.result;
    grantedLimits(result, call);
    this.#granted.set(caller, { model: call.model, atMs: call.atMs });
    return () => this.#batcher.enqueue(endOfCount(call, this.#now()));
  }
}
