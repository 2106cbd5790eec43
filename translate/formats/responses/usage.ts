/**
 * Converts usage between this format and the neutral usage. Input tokens in this format include
 * tokens read from and written to caches; output tokens include reasoning.
 */
import {
  arrayOr,
  countIn,
  isNoCount,
  isObject,
  type JsonObject,
  objectOr,
  outputCountIn,
  textIn,
} from "../../bytes/json.ts";
import {
  countedParts,
  otherCounts,
  wholePrompt,
  writtenLives,
} from "../../families/chat/usage.ts";
import { NO_PROMPT, promptParts } from "../../model/prompt_counts.ts";
import type { Usage } from "../../model/reply.ts";

/**
 * Decodes what a response reports of its usage: its `usage`, the tier that served it, and the uses
 * of the vendor's tools; undefined if it reports nothing.
 */
export function usageOf(response: JsonObject): Usage | undefined {
  const usage = decodeUsage(response["usage"]);
  const tier = textIn(response["service_tier"]);
  const uses = usesOf(response);
  const says = tier !== undefined && tier !== "default" && tier !== "auto";
  if (!says && uses === undefined) return usage;
  return {
    ...usage,
    ...(says ? { tier } : {}),
    ...(uses === undefined ? {} : { uses }),
  };
}

/** Items that are a use of a tool which vendors bill by use, and the tool's name. */
const USED: Readonly<Record<string, string>> = {
  web_search_call: "web_search",
  file_search_call: "file_search",
  code_interpreter_call: "code_interpreter",
  image_generation_call: "image_generation",
};

/**
 * Uses by tool. The count of searches that the vendor bills replaces that of the items; opening a
 * page that was found is none.
 */
function usesOf(response: JsonObject): Usage["uses"] {
  const uses: Record<string, number> = {};
  for (const item of arrayOr(response["output"])) {
    const { type, action } = objectOr(item);
    const name = typeof type === "string" ? USED[type] : undefined;
    if (name === undefined) continue;
    const step = objectOr(action)["type"];
    if (name === "web_search" && (step ?? "search") !== "search") continue;
    uses[name] = (uses[name] ?? 0) + 1;
  }
  const billed = countIn(
    objectOr(objectOr(response["tool_usage"])["web_search"])["num_requests"],
  );
  if (billed !== undefined) uses["web_search"] = billed;
  if (uses["web_search"] === 0) delete uses["web_search"];
  return Object.keys(uses).length === 0 ? undefined : uses;
}

/** Details of the input and the output that are not billed apart, or that the totals include. */
const PLAIN_DETAILS: ReadonlySet<string> = new Set([
  "cached_tokens",
  "cache_write_tokens",
  "cache_creation_tokens",
  "text_tokens",
  "audio_tokens",
  "image_tokens",
  "video_tokens",
  "file_tokens",
  "reasoning_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
]);

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
  const output = outputCountIn(
    value["output_tokens"] ?? value["completion_tokens"],
  );
  const outputDetails = objectOr(
    value["output_tokens_details"] ?? value["completion_tokens_details"],
  );
  const reasoning = countIn(outputDetails["reasoning_tokens"]);
  const lives = objectOr(details["cache_write_tokens_details"]);
  const prompts =
    isNoCount(value["input_tokens"]) || isNoCount(value["prompt_tokens"])
      ? NO_PROMPT
      : promptParts({
        prompt,
        cacheRead,
        cacheWrite,
        output,
        total: countIn(value["total_tokens"]),
      });
  return {
    ...prompts.parts,
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...countedParts({
      cacheWrite30m: countIn(lives["ttl_30m_tokens"]),
      cacheWrite12h: countIn(lives["ttl_12h_tokens"]),
      audioInput: countIn(details["audio_tokens"]),
      imageInput: countIn(details["image_tokens"]),
      unknownInput: otherCounts(details, PLAIN_DETAILS),
      audioOutput: countIn(outputDetails["audio_tokens"]),
      imageOutput: countIn(outputDetails["image_tokens"]),
      unknownOutput: otherCounts(outputDetails, PLAIN_DETAILS),
    }),
  };
}

/**
 * Encodes a `usage` object. The format cannot express "unknown": the prompt is then estimated and
 * the rest is zero.
 */
export function encodeUsage(usage: Usage, inputEstimate: number): JsonObject {
  const input = wholePrompt(usage, inputEstimate);
  const output = usage.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      cache_write_tokens: usage.cacheWrite ?? 0,
      ...writtenLives(usage),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: Math.min(usage.reasoning ?? 0, output),
    },
    total_tokens: input + output,
  };
}
