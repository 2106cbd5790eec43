/**
 * Token counts of replies in the Converse format.
 *
 * @module
 */
import { countIn, objectOr } from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/** Decodes a `usage` object. Its `inputTokens` leave out tokens of the cache, as the neutral figure does. */
export function readUsage(wire: unknown): Usage {
  const usage = objectOr(wire);
  const input = countIn(usage["inputTokens"]);
  const output = countIn(usage["outputTokens"]);
  const cacheRead = countIn(usage["cacheReadInputTokens"]);
  const cacheWrite = countIn(usage["cacheWriteInputTokens"]);
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}
