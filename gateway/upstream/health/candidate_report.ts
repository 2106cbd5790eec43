/**
 * The health of the candidates, for operators: in the metrics and in `/readyz?verbose`. Contains no
 * key and no address.
 */
import type { BreakerState } from "./breaker.ts";
import type { Candidate } from "../catalogue/model_registry.ts";

export interface CandidateReport {
  /** Id that clients use. */
  readonly model: string;
  /** `vendor/model`, where the model is the vendor's own id. */
  readonly upstream: string;
  readonly state: BreakerState;
  /** Start of the state, in ISO 8601; null if it has never changed. */
  readonly since: string | null;
  /** End of the cooldown that the upstream asked for, in ISO 8601; null if there is none. */
  readonly resting_until: string | null;
  /** When an open breaker lets a call through as a probe; absent: it is not open. */
  readonly probe_at?: string;
  /** The vendor's credential fails; absent while its source works. */
  readonly credential?: {
    /** False: no call can be made; true: an earlier key or token is still valid. */
    readonly usable: boolean;
    /** First failure in a row, in ISO 8601. */
    readonly failing_since: string;
    /** Contains no secret. */
    readonly reason: string;
  };
  /** The last call was refused for what belongs to the operator; absent: it was not. */
  readonly refused?: {
    /** First refusal in a row, in ISO 8601. */
    readonly since: string;
    /** The upstream's words, without secrets. */
    readonly reason: string;
  };
}

/** Reports on candidates at a Unix time in milliseconds. */
export function candidateReports(
  candidates: readonly Candidate[],
  nowMs: number,
): readonly CandidateReport[] {
  return candidates.map(({ model, name, health, credential }) => {
    const { usable, failure } = credential.state();
    const sinceMs = health.sinceMs(nowMs);
    const state = health.state(nowMs);
    const { refusal } = health;
    const coolingDownUntilMs = health.coolingDownUntilMs(nowMs);
    return {
      model: model.id,
      upstream: name,
      state,
      since: sinceMs === 0 ? null : new Date(sinceMs).toISOString(),
      resting_until: coolingDownUntilMs === undefined
        ? null
        : new Date(coolingDownUntilMs).toISOString(),
      ...(state === "open"
        ? { probe_at: new Date(health.availableAtMs()).toISOString() }
        : {}),
      ...(failure === undefined ? {} : {
        credential: {
          usable,
          failing_since: new Date(failure.sinceMs).toISOString(),
          reason: failure.reason,
        },
      }),
      ...(refusal === undefined ? {} : {
        refused: {
          since: new Date(refusal.sinceMs).toISOString(),
          reason: refusal.reason,
        },
      }),
    };
  });
}
