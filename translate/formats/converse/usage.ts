/**
 * Token counts of replies in the Converse format.
 */
import {
  arrayOr,
  countIn,
  isNoCount,
  objectOr,
  outputCountIn,
  textIn,
} from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/** Where one of them is no count, the prompt is estimated. */
const PROMPT_FIELDS = [
  "inputTokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
] as const;

/** Decodes a `usage` object. Its `inputTokens` exclude the cache's, as the neutral figure does. */
export function readUsage(wire: unknown): Usage {
  const usage = objectOr(wire);
  const output = outputCountIn(usage["outputTokens"]);
  if (PROMPT_FIELDS.some((field) => isNoCount(usage[field]))) {
    return output === undefined ? {} : { output };
  }
  const input = countIn(usage["inputTokens"]);
  const cacheRead = countIn(usage["cacheReadInputTokens"]);
  const cacheWrite = countIn(usage["cacheWriteInputTokens"]);
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...livesOf(usage["cacheDetails"]),
  };
}

/** Decodes the `metadata` event of a stream, or the same fields of a whole reply. */
export function readMetadata(wire: unknown): Usage {
  const metadata = objectOr(wire);
  const tier = textIn(objectOr(metadata["serviceTier"])["type"]);
  const latency = textIn(objectOr(metadata["performanceConfig"])["latency"]);
  return {
    ...readUsage(metadata["usage"]),
    ...(tier === undefined || tier === "default" ? {} : { tier }),
    ...(latency === undefined || latency === "standard"
      ? {}
      : { speed: latency }),
  };
}

/** Cache writes by life. */
function livesOf(details: unknown): Usage {
  const lives: { cacheWrite5m?: number; cacheWrite1h?: number } = {};
  for (const entry of arrayOr(details)) {
    const { ttl, inputTokens } = objectOr(entry);
    const count = countIn(inputTokens) ?? 0;
    if (count === 0) continue;
    if (ttl === "5m") lives.cacheWrite5m = (lives.cacheWrite5m ?? 0) + count;
    if (ttl === "1h") lives.cacheWrite1h = (lives.cacheWrite1h ?? 0) + count;
  }
  return lives;
}
