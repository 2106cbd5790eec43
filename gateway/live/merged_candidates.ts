/**
 * The candidates of all processes as one list: the worst state, and the sums.
 */
import type { KnownProcess } from "./live_calls.ts";
import { type CandidateState, hasProblem } from "./process_state.ts";

/** A candidate, as all processes see it. */
export interface MergedCandidate {
  readonly model: string;
  readonly upstream: string;
  /** The state in the process whose breaker is the furthest from closed. */
  readonly worst: Pick<CandidateState, "state" | "since" | "probe_at">;
  /**
   * Whether, in any process, its breaker is not closed, it rests, or its credential fails or is
   * refused.
   */
  readonly hasProblem: boolean;
  /** Number of processes whose breaker is not closed. */
  readonly problemsIn: number;
  /** End of the longest pause, as Unix time in milliseconds; absent: none. */
  readonly restingUntilMs?: number;
  /** Absent: it works in every process. */
  readonly credential?: CandidateState["credential"];
  /** Absent: the last call of no process was refused for what belongs to the operator. */
  readonly refused?: CandidateState["refused"];
  /** Whether any process has called it since its start. */
  readonly wasCalled: boolean;
  readonly calls: number;
  readonly failed: number;
  readonly errors: Readonly<Record<string, number>>;
  /** The slowest of the processes, in milliseconds; absent: no streams. */
  readonly firstToken?: { readonly p50: number; readonly p95: number };
}

const RANK: Readonly<Record<CandidateState["state"], number>> = {
  closed: 0,
  half_open: 1,
  open: 2,
};

/** Merges the candidates; those with problems come first. */
export function mergedCandidates(
  processes: readonly KnownProcess[],
): readonly MergedCandidate[] {
  const groups = new Map<string, CandidateState[]>();
  for (const { state } of processes) {
    for (const candidate of state.upstreams) {
      const id = `${candidate.model}\n${candidate.upstream}`;
      const group = groups.get(id);
      if (group === undefined) groups.set(id, [candidate]);
      else group.push(candidate);
    }
  }
  const all = [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [mergeOne(first, group)];
  });
  return all.toSorted((a, b) => Number(b.hasProblem) - Number(a.hasProblem));
}

function mergeOne(
  first: CandidateState,
  group: readonly CandidateState[],
): MergedCandidate {
  const [worst = first] = group.toSorted((a, b) =>
    RANK[b.state] - RANK[a.state]
  );
  const sum = (of: "calls" | "failed"): number =>
    group.reduce((total, one) => total + one[of], 0);
  const errors: Record<string, number> = {};
  for (const one of group) {
    for (const [error, count] of Object.entries(one.errors)) {
      errors[error] = (errors[error] ?? 0) + count;
    }
  }
  const pauses = group.flatMap(({ resting_until }) =>
    resting_until === null ? [] : [Date.parse(resting_until)]
  );
  const credential = group.find((one) => one.credential !== undefined)
    ?.credential;
  const refused = group.find((one) => one.refused !== undefined)?.refused;
  const [slowest] = group.filter((one) => one.first_token_p95_ms !== null)
    .toSorted((a, b) =>
      (b.first_token_p95_ms ?? 0) - (a.first_token_p95_ms ?? 0)
    );
  return {
    model: first.model,
    upstream: first.upstream,
    worst,
    hasProblem: group.some(hasProblem),
    problemsIn: group.filter(({ state }) => state !== "closed").length,
    ...(pauses.length === 0 ? {} : { restingUntilMs: Math.max(...pauses) }),
    ...(credential === undefined ? {} : { credential }),
    ...(refused === undefined ? {} : { refused }),
    wasCalled: group.some(({ was_called = false }) => was_called),
    calls: sum("calls"),
    failed: sum("failed"),
    errors,
    ...(slowest === undefined ? {} : {
      firstToken: {
        p50: slowest.first_token_p50_ms ?? 0,
        p95: slowest.first_token_p95_ms ?? 0,
      },
    }),
  };
}
