/**
 * Decodes token counts into the neutral {@linkcode Usage}.
 *
 * @module
 */
import { countIn, isObject } from "../../bytes/json.ts";
import type { Usage } from "../../model/reply.ts";

/**
 * Decodes `usageMetadata`; undefined where it has no counts (Vertex's early frames).
 * `candidatesTokenCount` excludes reasoning, `promptTokenCount` includes cached tokens and excludes
 * those that the vendor's own tools add to the prompt.
 */
export function decodeUsage(metadata: unknown): Usage | undefined {
  if (!isObject(metadata)) return undefined;
  const prompt = countIn(metadata["promptTokenCount"]);
  const toolPrompt = countIn(metadata["toolUsePromptTokenCount"]) ?? 0;
  const cached = countIn(metadata["cachedContentTokenCount"]);
  const candidates = countIn(metadata["candidatesTokenCount"]);
  const thoughts = countIn(metadata["thoughtsTokenCount"]);
  const total = countIn(metadata["totalTokenCount"]);
  // Zero counts are left out in this format, so a missing output count is the remainder of the
  // total.
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

/** Whether two usages are equal, so that frames that only repeat the counts need no event. */
export function sameUsage(one: Usage, other: Usage | undefined): boolean {
  return other !== undefined && one.input === other.input &&
    one.cacheRead === other.cacheRead && one.output === other.output &&
    one.reasoning === other.reasoning;
}
