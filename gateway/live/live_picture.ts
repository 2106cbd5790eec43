/**
 * What one viewer sees of the calls of all processes.
 */
import type { AccountScope } from "../admin/account_scope.ts";
import type {
  JustEnded,
  LeftOut,
  ProcessCalls,
  UnderWay,
} from "./live_call.ts";

export interface CallsOfProcess {
  readonly processId: string;
  readonly calls: ProcessCalls;
}

/** A call under way, and its process. */
export interface UnderWayAt extends UnderWay {
  readonly processId: string;
}

/** Calls of all processes, as far as a viewer may see them. */
export interface LivePicture {
  /** Unix time in milliseconds. */
  readonly atMs: number;
  /** Number of processes whose calls are in it. */
  readonly processes: number;
  /** False: the store does not answer, and only calls of this process are in it. */
  readonly complete: boolean;
  readonly underWay: {
    /** Calls beyond those in `data`. */
    readonly leftOut: number;
    /** Oldest first. */
    readonly data: readonly UnderWayAt[];
  };
  /** Those that the viewer has not seen. */
  readonly ended: {
    readonly leftOut: number;
    /** Newest first. */
    readonly data: readonly JustEnded[];
  };
}

/** The last turn of each process that a viewer has seen. Each picture moves it on. */
export type SeenTurns = Map<string, number>;

export function livePicture(
  all: readonly CallsOfProcess[],
  scope: Partial<AccountScope>,
  seen: SeenTurns,
  about: Pick<LivePicture, "atMs" | "complete">,
): LivePicture {
  const isIn = (
    call: { readonly accountId: string; readonly keyId: string },
  ): boolean =>
    (scope.accountId === undefined || call.accountId === scope.accountId) &&
    (scope.keyId === undefined || call.keyId === scope.keyId);
  const underWay: UnderWayAt[] = [];
  const ended: JustEnded[] = [];
  let underWayLeft = 0;
  let endedLeft = 0;
  for (const { processId, calls } of all) {
    underWayLeft += leftOf(calls.underWay, scope);
    for (const call of calls.underWay.data) {
      if (isIn(call)) underWay.push({ ...call, processId });
    }
    const last = seen.get(processId) ?? -1;
    for (const turn of calls.ended) {
      if (turn.turn <= last) continue;
      seen.set(processId, turn.turn);
      endedLeft += leftOf(turn, scope);
      for (const call of turn.data) if (isIn(call)) ended.push(call);
    }
  }
  return {
    ...about,
    processes: all.length,
    underWay: {
      leftOut: underWayLeft,
      data: underWay.toSorted((a, b) => a.arrivedMs - b.arrivedMs),
    },
    ended: { leftOut: endedLeft, data: ended.toReversed() },
  };
}

/**
 * How many calls are left out: of all accounts for operators, of its own for an account; a single
 * key gets no count.
 */
function leftOf(
  { total, left, data }: {
    readonly total: number;
    readonly left: LeftOut;
    readonly data: readonly unknown[];
  },
  { accountId }: Partial<AccountScope>,
): number {
  return accountId === undefined ? total - data.length : left[accountId] ?? 0;
}
