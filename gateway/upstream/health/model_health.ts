/**
 * The health of a model for those who call it: it names no upstream.
 */
import type { Breaker } from "./breaker.ts";

/**
 * `well`: every upstream of the model takes calls; `degraded`: only some of them do, or one is
 * being probed after failures; `away`: none does.
 */
export type ModelHealth = typeof MODEL_HEALTH[number];

/** All values, the best first. */
export const MODEL_HEALTH = ["well", "degraded", "away"] as const;

/** A candidate, as far as its health is concerned. */
interface Reachable {
  readonly health: Pick<Breaker, "state" | "coolingDownUntilMs">;
  readonly credential: { state(): { readonly usable: boolean } };
}

/** The health of a model at a Unix time in milliseconds, from its candidates in this process. */
export function modelHealth(
  candidates: readonly Reachable[],
  nowMs: number,
): ModelHealth {
  const states = candidates.map(({ health, credential }) =>
    !credential.state().usable ||
      health.coolingDownUntilMs(nowMs) !== undefined
      ? "open"
      : health.state(nowMs)
  );
  if (states.every((state) => state === "open")) return "away";
  return states.every((state) => state === "closed") ? "well" : "degraded";
}
