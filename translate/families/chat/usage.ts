/**
 * Usage as the chat and the Responses formats both write it.
 */
import { countIn, type JsonObject } from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/** The sum of the counts of tokens whose names are not known. */
export function otherCounts(
  details: JsonObject,
  known: ReadonlySet<string>,
): number {
  let sum = 0;
  for (const name in details) {
    if (name.endsWith("_tokens") && !known.has(name)) {
      sum += countIn(details[name]) ?? 0;
    }
  }
  return sum;
}

const NO_PARTS: Usage = {};

/** The counts that are more than zero: a part of nothing is not reported. */
export function countedParts(
  all: Readonly<Record<string, number | undefined>>,
): Usage {
  let some: Record<string, number> | undefined;
  for (const name in all) {
    const count = all[name] ?? 0;
    if (count > 0) (some ??= {})[name] = count;
  }
  return some ?? NO_PARTS;
}

/** The whole prompt. The formats cannot express "unknown": it is then the estimate. */
export function wholePrompt(
  { input, cacheRead, cacheWrite }: Usage,
  estimate: number,
): number {
  return input === undefined && cacheRead === undefined &&
      cacheWrite === undefined
    ? estimate
    : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
}

/** For how long what was written to a cache is kept; empty where that is not known. */
export function writtenLives(
  { cacheWrite30m, cacheWrite12h }: Usage,
): JsonObject {
  return cacheWrite30m === undefined && cacheWrite12h === undefined ? {} : {
    cache_write_tokens_details: {
      ttl_30m_tokens: cacheWrite30m ?? 0,
      ttl_12h_tokens: cacheWrite12h ?? 0,
    },
  };
}
