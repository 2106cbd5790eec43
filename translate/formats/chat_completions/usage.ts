/**
 * Converts usage between this format's vendors and the neutral usage. Prompt tokens in this
 * format include tokens read from and written to caches.
 *
 * @module
 */
import {
  compact,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/**
 * Decodes a `usage` object; undefined if there is none. If this object does not report cached
 * tokens, the counts of `earlier` are kept, since its prompt tokens still include them.
 *
 * @param cachedBesidePrompt whether cached tokens beyond the prompt's are never a part of them
 */
export function decodeUsage(
  value: unknown,
  before: Usage = {},
  cachedBesidePrompt = false,
): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countIn(value["prompt_tokens"]);
  const promptDetails = objectOr(value["prompt_tokens_details"]);
  // The format's own field, then the older names of three vendors.
  const cacheRead = countIn(promptDetails["cached_tokens"]) ??
    countIn(value["prompt_cache_hit_tokens"]) ??
    countIn(value["cached_tokens"]) ?? before.cacheRead;
  const cacheWrite = countIn(promptDetails["cache_write_tokens"]) ??
    countIn(promptDetails["cache_creation_tokens"]) ??
    countIn(value["cache_creation_tokens"]) ?? before.cacheWrite;
  const reasoning = countIn(
    objectOr(value["completion_tokens_details"])["reasoning_tokens"],
  );
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  // Prompt tokens include the cached ones. If there are more cached tokens than prompt tokens,
  // the total shows whether the cached ones are counted separately.
  const total = countIn(value["total_tokens"]);
  const beside = cached > (prompt ?? cached) &&
    (cachedBesidePrompt ||
      (total !== undefined &&
        total >= (prompt ?? 0) + cached +
            (countIn(value["completion_tokens"]) ?? 0)));
  const room = beside
    ? (prompt ?? 0) + cached
    : total === undefined
    ? Math.max(prompt ?? 0, cached)
    : prompt ?? cached;
  const read = Math.min(cacheRead ?? 0, room);
  const written = Math.min(cacheWrite ?? 0, room - read);
  const output = outputOf(value, beside ? room : prompt ?? 0, reasoning ?? 0);
  return {
    ...(prompt === undefined ? {} : { input: room - read - written }),
    ...(cacheRead === undefined ? {} : { cacheRead: read }),
    ...(cacheWrite === undefined ? {} : { cacheWrite: written }),
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** Some vendors leave reasoning out of the completion tokens; their total reveals it. */
function outputOf(
  usage: JsonObject,
  prompt: number,
  reasoning: number,
): number | undefined {
  const completion = countIn(usage["completion_tokens"]);
  if (completion === undefined) return undefined;
  const beyond = (countIn(usage["total_tokens"]) ?? 0) - prompt - completion;
  return beyond > 0 && beyond >= reasoning
    ? completion + reasoning
    : completion;
}

/**
 * Encodes a `usage` object. The format cannot express "unknown": the prompt is then estimated and
 * the rest is zero.
 */
export function encodeUsage(usage: Usage, inputEstimate: number): JsonObject {
  const isKnown = usage.input !== undefined || usage.cacheRead !== undefined ||
    usage.cacheWrite !== undefined;
  const prompt = isKnown
    ? (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
    : inputEstimate;
  const completion = usage.output ?? 0;
  return compact({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      ...((usage.cacheWrite ?? 0) > 0
        ? { cache_write_tokens: usage.cacheWrite }
        : {}),
    },
    completion_tokens_details: usage.reasoning === undefined
      ? undefined
      : { reasoning_tokens: usage.reasoning },
  });
}
