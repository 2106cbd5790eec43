/**
 * Converts usage between this format's vendors and the neutral usage. Prompt tokens in this
 * format include tokens read from and written to caches.
 */
import { compact } from "../../bytes/compact.ts";
import {
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
 * Decodes a `usage` object; undefined if there is none. If this object does not report cached
 * tokens, the counts of `before` are kept, since its prompt tokens still include them.
 *
 * @param cachedBesidePrompt whether more cached tokens than prompt tokens mean that the prompt's
 * count leaves them out
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
  const completionDetails = objectOr(value["completion_tokens_details"]);
  const reasoning = countIn(completionDetails["reasoning_tokens"]);
  const { parts: prompts, prompt: whole } = isNoCount(value["prompt_tokens"])
    ? NO_PROMPT
    : promptParts({
      prompt,
      cacheRead,
      cacheWrite,
      output: countIn(value["completion_tokens"]),
      total: countIn(value["total_tokens"]),
      cachedBesidePrompt,
    });
  const output = outputOf(value, whole, reasoning ?? 0);
  return {
    ...prompts,
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...kindsOfPrompt(promptDetails, prompts.cacheWrite ?? 0),
    ...outputParts(completionDetails),
  };
}

/** Details of the prompt that are not billed apart, or that the totals include. */
const PLAIN_PROMPT: ReadonlySet<string> = new Set([
  "cached_tokens",
  "cache_write_tokens",
  "cache_creation_tokens",
  "cache_read_tokens",
  "text_tokens",
  "audio_tokens",
  "image_tokens",
  "video_tokens",
  "file_tokens",
]);

/** Likewise of the completion. Predicted tokens that were rejected are a part of it. */
const PLAIN_COMPLETION: ReadonlySet<string> = new Set([
  "reasoning_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
  "text_tokens",
  "audio_tokens",
  "image_tokens",
]);

/** Sounds, images and lives of cache writes in a prompt, and tokens of unknown kinds. */
function kindsOfPrompt(details: JsonObject, written: number): Usage {
  const lives = objectOr(
    details["cache_write_tokens_details"] ??
      details["cache_creation_tokens_details"],
  );
  return countedParts({
    audioInput: countIn(details["audio_tokens"]),
    imageInput: countIn(details["image_tokens"]),
    cacheWrite30m: within(written, lives["ttl_30m_tokens"]),
    cacheWrite12h: within(written, lives["ttl_12h_tokens"]),
    unknownInput: otherCounts(details, PLAIN_PROMPT),
  });
}

function outputParts(details: JsonObject): Usage {
  return countedParts({
    audioOutput: countIn(details["audio_tokens"]),
    imageOutput: countIn(details["image_tokens"]),
    unknownOutput: otherCounts(details, PLAIN_COMPLETION),
  });
}

function within(most: number, count: unknown): number {
  return Math.min(most, countIn(count) ?? 0);
}

/** The tier that a reply or a chunk of it reports; undefined for the default. */
export function tierOf(reply: JsonObject): string | undefined {
  const tier = textIn(reply["service_tier"]);
  return tier === "default" || tier === "auto" ? undefined : tier;
}

/** Some vendors leave reasoning out of the completion tokens; their total reveals it. */
function outputOf(
  usage: JsonObject,
  prompt: number,
  reasoning: number,
): number | undefined {
  const completion = outputCountIn(usage["completion_tokens"]);
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
  const prompt = wholePrompt(usage, inputEstimate);
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
      ...writtenLives(usage),
      ...(usage.audioInput === undefined
        ? {}
        : { audio_tokens: usage.audioInput }),
      ...(usage.imageInput === undefined
        ? {}
        : { image_tokens: usage.imageInput }),
    },
    completion_tokens_details:
      usage.reasoning === undefined && usage.audioOutput === undefined
        ? undefined
        : compact({
          reasoning_tokens: usage.reasoning,
          audio_tokens: usage.audioOutput,
        }),
  });
}
