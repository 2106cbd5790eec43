/**
 * Encodes the settings of a request: the cap on generated tokens, and the sampling fields that
 * this format and the model support.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { GenerationRequest } from "../../model/request.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

/**
 * Encodes the settings. A field that must not be sent is undefined.
 *
 * @throws {ApiError} `invalid_request` for a cap below one token
 */
export function encodeConfig(
  request: GenerationRequest,
  can: Capabilities,
  losses: DroppedFields,
): JsonObject {
  return {
    max_output_tokens: maxTokens(request, can, losses),
    ...encodeSampling(request, can, losses),
  };
}

function maxTokens(
  request: GenerationRequest,
  can: Capabilities,
  losses: DroppedFields,
): number | undefined {
  const { maxTokens } = request;
  if (maxTokens === undefined) return undefined;
  if (maxTokens === 0) {
    throw losses.refusal(
      "maxTokens",
      "this model generates at least one token",
    );
  }
  const most = can.maxOutputTokens ?? Infinity;
  if (maxTokens > most || maxTokens < can.minOutputTokens) {
    losses.field("maxTokens");
  }
  return Math.max(can.minOutputTokens, Math.min(maxTokens, most));
}

/**
 * The sampling fields. The format has no stop strings, `top_k` or seed. Log probabilities are
 * dropped, since a translated reply has none.
 */
function encodeSampling(
  request: GenerationRequest,
  can: Capabilities,
  losses: DroppedFields,
): JsonObject {
  const sampled = can.sampling !== "none";
  const both = can.sampling !== "one" || request.temperature === undefined;
  const hot = request.temperature !== undefined &&
    request.temperature > can.maxTemperature;
  if (sampled && hot) losses.field("temperature");
  const keep = <T>(
    field:
      | "temperature"
      | "topP"
      | "presencePenalty"
      | "frequencyPenalty",
    value: T | undefined,
    allowed: boolean,
  ): T | undefined => {
    if (value === undefined || allowed) return value;
    losses.field(field);
    return undefined;
  };
  if (request.topK !== undefined) losses.field("topK");
  if (request.seed !== undefined) losses.field("seed");
  if (request.logprobs !== undefined) losses.field("logprobs");
  if (request.stop?.some((text) => text !== "") === true) losses.field("stop");
  const penalised = sampled && can.penalties;
  return {
    temperature: keep(
      "temperature",
      hot ? can.maxTemperature : request.temperature,
      sampled,
    ),
    top_p: keep("topP", request.topP, sampled && both),
    presence_penalty: keep(
      "presencePenalty",
      request.presencePenalty,
      penalised,
    ),
    frequency_penalty: keep(
      "frequencyPenalty",
      request.frequencyPenalty,
      penalised,
    ),
  };
}
