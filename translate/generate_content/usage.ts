/**
 * Token counts as this wire tells them → the neutral {@linkcode Usage}.
 *
 * @module
 */
import { countIn, isObject } from "../json.ts";
import type { Usage } from "../reply.ts";

/**
 * Reads `usageMetadata`; undefined where it counts nothing (Vertex's early frames). `candidatesTokenCount` leaves thoughts out,
 * `promptTokenCount` holds the cached tokens and leaves out what the vendor's own tools put into the prompt.
 */
export function readUsage(metadata: unknown): Usage | undefined {
  if (!isObject(metadata)) return undefined;
  const prompt = countIn(metadata["promptTokenCount"]);
  const toolPrompt = countIn(metadata["toolUsePromptTokenCount"]) ?? 0;
  const cached = countIn(metadata["cachedContentTokenCount"]);
  const candidates = countIn(metadata["candidatesTokenCount"]);
  const thoughts = countIn(metadata["thoughtsTokenCount"]);
  const total = countIn(metadata["totalTokenCount"]);
  // Zero counts are left out on this wire, so an answer without a count of its own is what the total leaves.
  const output = candidates !== undefined
    ? candidates + (thoughts ?? 0)
    : total !== undefined && prompt !== undefined
    ? Math.max(thoughts ?? 0, total - prompt - toolPrompt)
    : thoughts;
  const usage: Usage = {
    ...(prompt === undefined
      ? {}
      : { input: Math.max(0, prompt + toolPrompt - (cached ?? 0)) }),
    ...(cached === undefined ? {} : { cacheRead: cached }),
    ...(output === undefined ? {} : { output }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}

/** Whether two counts tell the same, so that frames that only repeat them need no event. */
export function sameUsage(one: Usage, other: Usage | undefined): boolean {
  return other !== undefined && one.input === other.input &&
    one.cacheRead === other.cacheRead && one.output === other.output &&
    one.reasoning === other.reasoning;
}
