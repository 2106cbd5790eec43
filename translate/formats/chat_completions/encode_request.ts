/**
 * Encodes the neutral request for an upstream of this format. Only the model's capabilities
 * decide what is sent, never the name of a model or vendor.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { invalidField } from "../../model/error.ts";
import { withoutTakenMarks } from "../../model/cache_marks.ts";
import { promptCacheOptions } from "../../model/prompt_cache.ts";
import { compact, type JsonObject } from "../../bytes/json.ts";
import { sha256 } from "../../model/names.ts";
import type { GenerationRequest } from "../../model/request.ts";
import { encodeMessages } from "./encode_messages.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools } from "./encode_tools.ts";
import {
  type DroppedFields,
  droppedFieldsOf,
} from "../../model/dropped_fields.ts";

/**
 * The length that every vendor of this format accepts, with the characters that the strictest
 * vendor accepts.
 */
const USER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Encodes a request for an upstream.
 *
 * @throws {ApiError} `invalid_request` naming, by the caller's name for it, a field that this
 * format cannot express and that must not be dropped
 */
export function encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const demand = request.essential[0];
  if (demand !== undefined) {
    throw invalidField(demand, "not supported for this model");
  }
  const losses = droppedFieldsOf(request, withoutTakenMarks(request, can));
  if ((request.candidates ?? 1) > 1) {
    throw losses.refusal("candidates", "only one answer can be asked for");
  }
  const messages = encodeMessages(request, can, losses);
  const { fields, context } = encodeTools(request, can, losses);
  const body = compact({
    model: request.model,
    messages,
    ...fields,
    [can.maxTokensField]: maxTokens(request, can, losses),
    ...encodeSampling(request, can, losses),
    reasoning_effort: encodeReasoning(request.reasoning, can, losses),
    user: request.user === undefined ? undefined : userId(request.user),
    service_tier: request.serviceTier,
    prompt_cache_options: promptCacheOptions(request, can, losses, false),
    stream: request.stream ? true : undefined,
    stream_options: request.stream && can.includeUsage
      ? { include_usage: true }
      : undefined,
  });
  return { body, headers: {}, dropped: losses.all(), context };
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
  if (maxTokens > most) losses.field("maxTokens");
  return Math.min(maxTokens, most);
}

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
    field: "temperature" | "topP" | "topK" | "seed" | "logprobs",
    value: T | undefined,
    allowed: boolean,
  ): T | undefined => {
    if (value === undefined || allowed) return value;
    losses.field(field);
    return undefined;
  };
  const penalised = sampled && can.penalties;
  if (request.presencePenalty !== undefined && !penalised) {
    losses.field("presencePenalty");
  }
  if (request.frequencyPenalty !== undefined && !penalised) {
    losses.field("frequencyPenalty");
  }
  const logprobs = keep("logprobs", request.logprobs, sampled);
  return {
    temperature: keep(
      "temperature",
      hot ? can.maxTemperature : request.temperature,
      sampled,
    ),
    top_p: keep("topP", request.topP, sampled && both),
    top_k: keep("topK", request.topK, can.topK),
    stop: encodeStop(request, can, losses),
    seed: keep("seed", request.seed, can.seed && fitsSeed(request.seed)),
    presence_penalty: penalised ? request.presencePenalty : undefined,
    frequency_penalty: penalised ? request.frequencyPenalty : undefined,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
  };
}

function encodeStop(
  request: GenerationRequest,
  can: Capabilities,
  losses: DroppedFields,
): readonly string[] | undefined {
  const stop = request.stop?.filter((text) => text !== "") ?? [];
  if (stop.length > can.maxStops) losses.field("stop");
  const kept = stop.slice(0, can.maxStops);
  return kept.length === 0 ? undefined : kept;
}

/** Hashes an id that some vendor would refuse; the same user always gets the same hash. */
function userId(user: string): string {
  return USER_ID.test(user) ? user : sha256(user);
}

/** Whether a seed has the digits that the client wrote. */
function fitsSeed(seed: number | undefined): boolean {
  return seed === undefined || Number.isSafeInteger(seed);
}
