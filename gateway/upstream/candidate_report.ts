/**
 * How the candidates are, for operators: in the metrics and in `/readyz?verbose`. No key and no address is in it.
 *
 * @module
 */
import type { BreakerState } from "./breaker.ts";
import type { Candidate } from "./candidates.ts";

/** How a candidate is. */
export interface CandidateReport {
  /** Id that callers use. */
  readonly model: string;
  /** `vendor/model`, the model in the vendor's own words. */
  readonly upstream: string;
  /** Of its circuit breaker. */
  readonly state: BreakerState;
  /** When the state began, in ISO 8601; null where it has never been another. */
  readonly since: string | null;
  /** Until when it is left alone because it asked for that; null where it did not, or where that is over. */
  readonly resting_until: string | null;
}

/** Reports on candidates, at a Unix time in milliseconds. */
export function candidateReports(
  candidates: readonly Candidate[],
  nowMs: number,
): readonly CandidateReport[] {
  return candidates.map(({ model, name, health }) => {
    const sinceMs = health.sinceMs(nowMs);
    const restingUntilMs = health.restingUntilMs(nowMs);
    return {
      model: model.id,
      upstream: name,
      state: health.state(nowMs),
      since: sinceMs === 0 ? null : new Date(sinceMs).toISOString(),
      resting_until: restingUntilMs === undefined
        ? null
        : new Date(restingUntilMs).toISOString(),
    };
  });
}
