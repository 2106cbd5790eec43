/**
 * Which of a model's candidates a call goes to: the lowest priority first, by weight among equals, and past those that are out
 * (breaker open, probe under way, or asked to be left alone). Where all are out, the one that is due back first is tried all
 * the same: it may well be alive, and a refusal of ours would be no better than its own.
 *
 * @module
 */
import type { Candidate } from "./candidates.ts";

/** The candidate to call; undefined where every one is to be skipped. `random` gives numbers from 0 up to, not including, 1. */
export function choose(
  candidates: readonly Candidate[],
  skip: readonly Candidate[],
  nowMs: number,
  random: () => number,
): Candidate | undefined {
  const only = candidates[0];
  if (candidates.length === 1 && skip.length === 0) return only;
  return weighted(candidates, skip, nowMs, random) ??
    dueFirst(candidates, skip);
}

/** By priority and weight, among those that are not out; undefined where all are. */
export function weighted(
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
  let left = random() * total;
  let last: Candidate | undefined;
  for (const one of candidates) {
    if (one.priority !== priority || skip.includes(one)) continue;
    if (!one.health.admits(nowMs)) continue;
    last = one;
    left -= one.weight;
    if (left < 0) return one;
  }
  // Sums of fractions may fall short by a hair.
  return last;
}

function dueFirst(
  candidates: readonly Candidate[],
  skip: readonly Candidate[],
): Candidate | undefined {
  let first: Candidate | undefined;
  for (const one of candidates) {
    if (skip.includes(one)) continue;
    if (
      first === undefined || one.health.backAtMs() < first.health.backAtMs()
    ) first = one;
  }
  return first;
}
