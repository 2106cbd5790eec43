/**
 * Unique ids of calls: of a conversation, for upstream formats that refuse repeated ones, and of a
 * reply, for its client.
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
 * result share a wire id.
 */
export function callIds(max: number): CallIds {
  const calls = new Map<string, string[]>();
  const results = new Map<string, number>();
  const used = new Set<string>();
  /** The next number for an id: without it, many equal ids would take quadratic time. */
  const next = new Map<string, number>();
  const unusedId = (id: string): string => {
    const wire = wireCallId(id, max);
    let n = next.get(wire) ?? 0;
    const candidateId = (): string =>
      n === 0 ? wire : wireCallId(`${wire}_${n}`, max);
    while (used.has(candidateId())) n++;
    next.set(wire, n + 1);
    const own = candidateId();
    used.add(own);
    return own;
  };
  return {
    ofCall(id) {
      const wire = unusedId(id);
      const same = calls.get(id);
      if (same === undefined) calls.set(id, [wire]);
      else same.push(wire);
      return wire;
    },
    ofResult(id) {
      const n = results.get(id) ?? 0;
      results.set(id, n + 1);
      const same = calls.get(id) ?? [];
      // A second result for one call keeps the call's id: the upstream decides.
      return same[Math.min(n, same.length - 1)] ?? wireCallId(id, max);
    },
  };
}

/**
 * Ids that are unique, for a request whose calls repeat one; undefined where none does. Replies of
 * upstreams that count their calls from one in every reply lead to such a conversation.
 */
export function idsInstead(calls: Iterable<string>): CallIds | undefined {
  const seen = new Set<string>();
  for (const id of calls) {
    if (seen.has(id)) return callIds(Infinity);
    seen.add(id);
  }
  return undefined;
}

/**
 * The ids of the calls of one reply, in order: the upstream's id, or one that is unique through the
 * reply's seed where the upstream sent none or repeats one. Two calls with one id cannot be
 * distinguished by their results.
 *
 * @param max most characters of an id, which is then as {@linkcode wireCallId} makes it; absent:
 * the format takes any id
 */
export function replyCallIds(
  prefix: "call_" | "toolu_" | "srvtoolu_gateway_",
  idSeed: string,
  max?: number,
): (upstreamId: string | undefined) => string {
  const used = new Set<string>();
  return (upstreamId = "") => {
    const n = used.size;
    const own = max === undefined || upstreamId === ""
      ? upstreamId
      : wireCallId(upstreamId, max);
    const id = own === "" || used.has(own)
      ? `${prefix}${idSeed.slice(0, 24)}${n === 0 ? "" : n.toString(36)}`
      : own;
    used.add(id);
    return id;
  };
}
