/**
 * Ids of calls for an upstream of the messages format: acceptable, and no two calls with one id.
 *
 * @module
 */
import { wireCallId } from "../names.ts";

/** Ids of calls on the wire: each call its own, and each result that of its call. */
export interface CallIds {
  /** The wire id of the next call with this id. */
  ofCall(id: string): string;
  /** The wire id of the next result with this id: that of its call. */
  ofResult(id: string): string;
}

/** The format refuses an id that comes twice, so the n-th call of an id and its n-th result get a number. */
export function callIds(max: number): CallIds {
  const calls = new Map<string, number>();
  const results = new Map<string, number>();
  const numbered = (id: string, n: number): string => {
    const wire = wireCallId(id, max);
    return n === 0 ? wire : wireCallId(`${wire}_${n}`, max);
  };
  return {
    ofCall(id) {
      const n = calls.get(id) ?? 0;
      calls.set(id, n + 1);
      return numbered(id, n);
    },
    ofResult(id) {
      const n = results.get(id) ?? 0;
      results.set(id, n + 1);
      // A second result of one call stays the upstream's to judge.
      return numbered(id, Math.min(n, Math.max(0, (calls.get(id) ?? 0) - 1)));
    },
  };
}
