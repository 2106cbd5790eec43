/**
 * Unique ids of calls for upstream formats that refuse repeated ones.
 *
 * @module
 */
import { wireCallId } from "./names.ts";

/** Ids on the wire: unique per call, and shared by a call and its result. */
export interface CallIds {
  /** The wire id of the next call with this id. */
  ofCall(id: string): string;
  /** The wire id of the next result with this id: that of its call. */
  ofResult(id: string): string;
}

/**
 * Numbers repeated ids, because the format refuses them: the n-th call with an id and its n-th
 * result share a number.
 */
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
      // A second result for one call keeps the call's id: the upstream decides.
      return numbered(id, Math.min(n, Math.max(0, (calls.get(id) ?? 0) - 1)));
    },
  };
}
