/**
 * Chooses a candidate for a call: the lowest priority value first, by weight within a priority,
 * avoiding unavailable candidates (breaker open, probe running, or in a cooldown). If all are
 * unavailable, the one that becomes available first is called nevertheless: it may work, and a
 * refusal by the gateway would not help the client.
 */
import type { Candidate } from "../catalogue/model_registry.ts";

/** The candidate to call; undefined if all are skipped. `random` returns numbers in [0, 1). */
export function chooseCandidate(
  candidates: readonly Candidate[],
  skip: readonly Candidate[],
  nowMs: number,
  random: () => number,
): Candidate | undefined {
  const only = candidates[0];
  if (candidates.length === 1 && skip.length === 0) return only;
  return weightedChoice(candidates, skip, nowMs, random) ??
    earliestAvailable(candidates, skip);
}

/** Chooses by priority and weight among the available candidates; undefined if there is none. */
export function weightedChoice(
  candidates: readonly Candidate[],
  skip: readonly Candidate[],
  nowMs: number,
  random: () => number,
): Candidate | undefined {
  let priority = Infinity;
  let total = 0;
  for (const one of candidates) {
    if (one.priority > priority || skip.includes(one)) continue;
    if (!one.health.admits(nowMs)) continue;
    if (one.priority < priority) {
      priority = one.priority;
      total = 0;
    }
    total += one.weight;
  }
  let remaining = random() * total;
  let last: Candidate | undefined;
  for (const one of candidates) {
    if (one.priority !== priority || skip.includes(one)) continue;
    if (!one.health.admits(nowMs)) continue;
    last = one;
    remaining -= one.weight;
    if (remaining < 0) return one;
  }
  // Rounding can leave a remainder after the last subtraction.
  return last;
}

function earliestAvailable(
  candidates: readonly Candidate[],
  skip: readonly Candidate[],
): Candidate | undefined {
  let first: Candidate | undefined;
  for (const one of candidates) {
    if (skip.includes(one)) continue;
    if (
      first === undefined ||
      one.health.availableAtMs() < first.health.availableAtMs()
    ) first = one;
  }
  return first;
}
