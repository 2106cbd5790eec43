/**
 * Encodes the settings of a request for the Converse format. Settings of single model families are additional fields.
 *
 * @module
 */
import type { JsonObject } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { GenerationRequest } from "../../model/request.ts";
import type { NeutralField } from "../../model/field_names.ts";
import type { Drop } from "./encode_tools.ts";

/** Fields that this format cannot express and that may be dropped. */
const INEXPRESSIBLE: readonly (NeutralField & keyof GenerationRequest)[] = [
  "seed",
  "logprobs",
  "user",
  "serviceTier",
];
/** Fields that may be dropped and are not reported when zero, which is every model's default. */
const PENALTIES: readonly (NeutralField & keyof GenerationRequest)[] = [
  "presencePenalty",
  "frequencyPenalty",
];

/** The highest temperature that the format accepts. */
const MAX_TEMPERATURE = 1;

/** The fields beside conversation and tools. */
export function encodeConfig(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  const { fieldNames: words } = request;
  for (const field of INEXPRESSIBLE) {
    if (request[field] !== undefined) drop(words[field]);
  }
  for (const field of PENALTIES) {
    if ((request[field] ?? 0) !== 0) drop(words[field]);
  }
  // Reasoning is a setting of each model family, with no form in common.
  const { reasoning } = request;
  if (reasoning?.mode === "on" || reasoning?.effort !== undefined) {
    drop(words.reasoning);
  }
  const inference = {
    ...maxTokens(request, can, drop),
    ...sampling(request, can, drop),
    ...stops(request, can, drop),
  };
  return {
    ...(Object.keys(inference).length === 0
      ? {}
      : { inferenceConfig: inference }),
    ...topK(request, can, drop),
  };
}

function maxTokens(
  { maxTokens: asked, fieldNames: words }: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  const maxTokens = asked ??
    (can.alwaysCapped ? can.defaultMaxTokens : undefined);
  if (maxTokens === undefined) return {};
  const ceiling = can.maxOutputTokens ?? Infinity;
  if (asked !== undefined && asked > ceiling) drop(words.maxTokens);
  return { maxTokens: Math.min(maxTokens, ceiling) };
}

function sampling(
  { temperature, topP, fieldNames: words }: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  const out: { temperature?: number; topP?: number } = {};
  if (temperature !== undefined) {
    const most = Math.min(can.maxTemperature, MAX_TEMPERATURE);
    if (can.sampling === "none" || temperature > most) drop(words.temperature);
    if (can.sampling !== "none") out.temperature = Math.min(temperature, most);
  }
  if (topP !== undefined) {
    const isSecond = can.sampling === "one" && out.temperature !== undefined;
    if (can.sampling === "none" || isSecond) drop(words.topP);
    else out.topP = topP;
  }
  return out;
}

function stops(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  const all = request.stop ?? [];
  const kept = all.filter((stop) => stop.trim() !== "").slice(0, can.maxStops);
  if (kept.length < all.length) drop(request.fieldNames.stop);
  return kept.length === 0 ? {} : { stopSequences: kept };
}

function topK(
  { topK, fieldNames: words }: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  if (topK === undefined) return {};
  if (can.topK && can.sampling !== "none") {
    return { additionalModelRequestFields: { top_k: topK } };
  }
  drop(words.topK);
  return {};
}
