/**
 * Converts token counts between the format and the neutral {@linkcode Usage}.
 */
import {
  arrayOr,
  countIn,
  isNoCount,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import { NO_PROMPT, promptParts } from "../../model/prompt_counts.ts";
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
    // Beside a text that was received, 0 is no count.
    : isNoCount(metadata["candidatesTokenCount"])
    ? 0
    : thoughts;
  const prompts = isNoCount(metadata["promptTokenCount"])
    ? NO_PROMPT
    : promptParts({
      prompt: prompt === undefined ? undefined : prompt + toolPrompt,
      cacheRead: cached,
      cacheWrite: undefined,
      output,
      total,
    });
  const usage: Usage = {
    ...prompts.parts,
    ...(output === undefined ? {} : { output }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
    ...partsOf(metadata),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}

/** Modalities of the prompt that cost what its text costs. */
const AS_TEXT: ReadonlySet<string> = new Set([
  "TEXT",
  "VIDEO",
  "DOCUMENT",
  "MODALITY_UNSPECIFIED",
]);

/** Counts by modality beside text, and the tier. Counts of zero are left out. */
function partsOf(metadata: JsonObject): Usage {
  const cached = byModality(metadata["cacheTokensDetails"]);
  const prompt = byModality(
    metadata["promptTokensDetails"],
    metadata["toolUsePromptTokensDetails"],
  );
  const output = byModality(metadata["candidatesTokensDetails"]);
  const tier = tierOf(metadata);
  if (prompt === undefined && output === undefined && tier === undefined) {
    return NOTHING;
  }
  const all: Record<string, number | string> = {};
  const put = (name: keyof Usage, count: number): void => {
    if (count > 0) all[name] = count;
  };
  // The price of cached sound and images is that of the cache.
  put("audioInput", (prompt?.audio ?? 0) - (cached?.audio ?? 0));
  put("imageInput", (prompt?.image ?? 0) - (cached?.image ?? 0));
  put("unknownInput", (prompt?.unknown ?? 0) - (cached?.unknown ?? 0));
  put("audioOutput", output?.audio ?? 0);
  put("imageOutput", output?.image ?? 0);
  put("unknownOutput", output?.unknown ?? 0);
  if (tier !== undefined) all["tier"] = tier;
  return all;
}

const NOTHING: Usage = {};

interface Modalities {
  audio: number;
  image: number;
  unknown: number;
}

/** The counts of what is not text; undefined where everything is. */
function byModality(...details: readonly unknown[]): Modalities | undefined {
  let counts: Modalities | undefined;
  for (const list of details) {
    for (const entry of arrayOr(list)) {
      const { modality, tokenCount } = objectOr(entry);
      if (typeof modality !== "string" || AS_TEXT.has(modality)) continue;
      counts ??= { audio: 0, image: 0, unknown: 0 };
      const kind = modality === "AUDIO"
        ? "audio"
        : modality === "IMAGE"
        ? "image"
        : "unknown";
      counts[kind] += countIn(tokenCount) ?? 0;
    }
  }
  return counts;
}

/** Vertex AI reports the tier as the kind of traffic: `ON_DEMAND_PRIORITY`. */
function tierOf(metadata: JsonObject): string | undefined {
  const traffic = textIn(metadata["trafficType"])?.toLowerCase();
  const tier = traffic === "on_demand"
    ? undefined
    : traffic?.replace(/^on_demand_/, "");
  const said = tier ?? textIn(metadata["serviceTier"])?.toLowerCase();
  return said === "standard" || said === "traffic_type_unspecified"
    ? undefined
    : said;
}

/** Whether two usages are equal, so that frames that only repeat the counts need no event. */
export function sameUsage(one: Usage, other: Usage | undefined): boolean {
  if (other === undefined) return false;
  const names = Object.keys(one) as (keyof Usage)[];
  return names.length === Object.keys(other).length &&
    names.every((name) => one[name] === other[name]);
}

/**
 * Encodes `usageMetadata` of a frame before the last: the prompt alone. No frame goes without it:
 * the vendor's all have it, and there are clients that read no frame without it.
 */
export function encodePromptUsage(
  usage: Usage,
  inputEstimate: number,
): JsonObject {
  const prompt = promptOf(usage) ?? inputEstimate;
  return { promptTokenCount: prompt, totalTokenCount: prompt };
}

/** The tokens of the whole prompt; undefined where nothing is known of it. */
function promptOf(usage: Usage): number | undefined {
  const { input, cacheRead, cacheWrite } = usage;
  return input === undefined && cacheRead === undefined &&
      cacheWrite === undefined
    ? undefined
    : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
}

/**
 * Encodes `usageMetadata`. The format cannot express "unknown": the prompt is then estimated and
 * the output zero.
 */
export function encodeUsage(usage: Usage, inputEstimate: number): JsonObject {
  const { cacheRead, output = 0, reasoning } = usage;
  const prompt = promptOf(usage) ?? inputEstimate;
  const thoughts = Math.min(reasoning ?? 0, output);
  const candidates = output - thoughts;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + output,
    ...(cacheRead ? { cachedContentTokenCount: cacheRead } : {}),
    promptTokensDetails: modalities(prompt, usage.audioInput, usage.imageInput),
    ...(usage.audioOutput === undefined && usage.imageOutput === undefined
      ? {}
      : {
        candidatesTokensDetails: modalities(
          candidates,
          usage.audioOutput,
          usage.imageOutput,
        ),
      }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: thoughts }),
  };
}

function modalities(
  total: number,
  audio = 0,
  image = 0,
): readonly JsonObject[] {
  return [
    { modality: "TEXT", tokenCount: Math.max(0, total - audio - image) },
    { modality: "AUDIO", tokenCount: audio },
    { modality: "IMAGE", tokenCount: image },
  ].filter(({ modality, tokenCount }) => modality === "TEXT" || tokenCount > 0);
}
