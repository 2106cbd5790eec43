/**
 * Usage as this format's vendors tell it ↔ neutral usage. Prompt tokens here include what was read from and written to caches.
 *
 * @module
 */
import {
  compact,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
} from "../json.ts";
import type { Usage } from "../reply.ts";

/**
 * Reads a `usage` object; undefined where there is none. What an earlier one told of caches stands where this one is silent: its
 * prompt tokens still include them.
 */
export function decodeUsage(
  value: unknown,
  before: Usage = {},
): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countIn(value["prompt_tokens"]);
  const promptDetails = objectOr(value["prompt_tokens_details"]);
  // Beside the format's own field, three vendors' older names.
  const cacheRead = countIn(promptDetails["cached_tokens"]) ??
    countIn(value["prompt_cache_hit_tokens"]) ??
    countIn(value["cached_tokens"]) ?? before.cacheRead;
  const cacheWrite = countIn(promptDetails["cache_write_tokens"]) ??
    countIn(promptDetails["cache_creation_tokens"]) ??
    countIn(value["cache_creation_tokens"]) ?? before.cacheWrite;
  const reasoning = countIn(
    objectOr(value["completion_tokens_details"])["reasoning_tokens"],
  );
  const output = outputOf(value, prompt ?? 0, reasoning ?? 0);
  return {
    ...(prompt === undefined ? {} : {
      input: Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** Some vendors leave reasoning out of the completion tokens; their total gives them away. */
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

/** Writes a `usage` object. The format has no word for "unknown": the prompt is estimated, the rest zero. */
export function encodeUsage(usage: Usage, inputEstimate: number): JsonObject {
  const told = usage.input !== undefined || usage.cacheRead !== undefined ||
    usage.cacheWrite !== undefined;
  const prompt = told
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
