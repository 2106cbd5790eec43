/**
 * Encodes sampling, limits, output format and reasoning as `generationConfig`. Each value is
 * lowered to the model's limit; unsupported fields are reported as dropped.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { invalidField } from "../../model/error.ts";
import { compact, type JsonObject } from "../../bytes/json.ts";
import type { GenerationRequest, OutputFormat } from "../../model/request.ts";
import type { Drop } from "./encode_messages.ts";
import { openapiSchema } from "./openapi_schema.ts";
import { encodeReasoning } from "./encode_reasoning.ts";

/**
 * Encodes the config; undefined where the client set none of its fields. `format` is absent where a
 * tool replaces it.
 *
 * @throws {ApiError} `invalid_request` for a cap of zero tokens, which cannot be dropped
 */
export function encodeConfig(
  request: GenerationRequest,
  format: OutputFormat | undefined,
  can: Capabilities,
  drop: Drop,
): JsonObject | undefined {
  const { fieldNames: words } = request;
  /** The value where the model supports it; otherwise the field is dropped. */
  const unless = <T>(
    takes: boolean,
    value: T | undefined,
    word: string,
  ): T | undefined => {
    if (takes || value === undefined) return value;
    drop(word);
    return undefined;
  };
  const temperature = unless(
    can.sampling !== "none",
    request.temperature,
    words.temperature,
  );
  const topP = unless(
    can.sampling === "all" ||
      (can.sampling === "one" && temperature === undefined),
    request.topP,
    words.topP,
  );
  const stops = request.stop?.filter((stop) => stop !== "");
  if (stops !== undefined && stops.length > can.maxStops) drop(words.stop);
  const stopSequences = stops?.slice(0, can.maxStops);
  const thinking = encodeReasoning(request.reasoning, can);
  if (thinking.dropped) drop(words.reasoning);
  if (request.maxTokens === 0) {
    throw invalidField(
      words.maxTokens,
      "this model generates at least one token",
    );
  }
  if ((request.maxTokens ?? 0) > (can.maxOutputTokens ?? Infinity)) {
    drop(words.maxTokens);
  }
  if ((temperature ?? 0) > can.maxTemperature) drop(words.temperature);
  // Sent and still reported as dropped: the neutral reply cannot carry log probabilities back.
  if (request.logprobs !== undefined) drop(words.logprobs);

  const config = compact({
    maxOutputTokens: lowered(request.maxTokens, can.maxOutputTokens),
    temperature: lowered(temperature, can.maxTemperature),
    topP,
    topK: unless(can.topK, request.topK, words.topK),
    stopSequences: stopSequences?.length === 0 ? undefined : stopSequences,
    seed: unless(
      can.seed && fitsSeed(request.seed),
      request.seed,
      words.seed,
    ),
    presencePenalty: unless(
      can.penalties,
      request.presencePenalty,
      words.presencePenalty,
    ),
    frequencyPenalty: unless(
      can.penalties,
      request.frequencyPenalty,
      words.frequencyPenalty,
    ),
    ...logprobs(request.logprobs),
    ...formatFields(format, can),
    thinkingConfig: thinking.config,
  });
  return Object.keys(config).length > 0 ? config : undefined;
}

/** Whether a seed fits this format's 32 bits; a larger one would make the whole call fail. */
function fitsSeed(seed: number | undefined): boolean {
  return seed === undefined || seed === (seed | 0);
}

function lowered(
  value: number | undefined,
  most: number | undefined,
): number | undefined {
  return value === undefined || most === undefined
    ? value
    : Math.min(value, most);
}

function logprobs(alternatives: number | undefined): JsonObject {
  if (alternatives === undefined) return {};
  return alternatives === 0
    ? { responseLogprobs: true }
    : { responseLogprobs: true, logprobs: alternatives };
}

function formatFields(
  format: OutputFormat | undefined,
  can: Capabilities,
): JsonObject {
  switch (format?.type) {
    case undefined:
    case "text":
      return {};
    case "json":
      return { responseMimeType: "application/json" };
    case "schema":
      return {
        responseMimeType: "application/json",
        ...(can.schema === "openapi"
          ? { responseSchema: openapiSchema(format.schema) }
          : { responseJsonSchema: format.schema }),
      };
  }
}
