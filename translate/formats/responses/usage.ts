/**
 * Converts usage between this format and the neutral usage. Input tokens in this format include
 * tokens read from and written to caches; output tokens include reasoning.
 *
 * @module
 */
import {
  countIn,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/** Decodes a `usage` object; undefined if there is none. */
export function decodeUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countIn(value["input_tokens"]) ??
    countIn(value["prompt_tokens"]);
  const details = objectOr(
    value["input_tokens_details"] ?? value["prompt_tokens_details"],
  );
  const cacheRead = countIn(details["cached_tokens"]);
  const cacheWrite = countIn(details["cache_write_tokens"]) ??
    countIn(details["cache_creation_tokens"]);
  const output = countIn(value["output_tokens"]) ??
    countIn(value["completion_tokens"]);
  const reasoning = countIn(
    objectOr(
      value["output_tokens_details"] ?? value["completion_tokens_details"],
    )["reasoning_tokens"],
  );
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

/**
 * Encodes a `usage` object. The format cannot express "unknown": the prompt is then estimated and
 * the rest is zero.
 */
export function encodeUsage(usage: Usage, inputEstimate: number): JsonObject {
  const known = usage.input !== undefined || usage.cacheRead !== undefined ||
    usage.cacheWrite !== undefined;
  const input = known
    ? (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
    : inputEstimate;
  const output = usage.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      cache_write_tokens: usage.cacheWrite ?? 0,
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: Math.min(usage.reasoning ?? 0, output),
    },
    total_tokens: input + output,
  };
}
