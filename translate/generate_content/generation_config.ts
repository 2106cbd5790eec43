/**
 * Sampling, limits, output format and reasoning, as this wire's `generationConfig`. Each value is lowered to what the model takes;
 * what it does not take is told as lost.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { invalidField } from "../error.ts";
import { compact, type JsonObject } from "../json.ts";
import type { GenerationRequest, OutputFormat } from "../request.ts";
import type { Lose } from "./contents.ts";
import { openapiSchema } from "./openapi_schema.ts";
import { writeThinking } from "./thinking.ts";

/**
 * Writes the config; undefined where the caller asked for nothing of it. `format` is absent where a tool stands in for it.
 *
 * @throws {ApiError} `invalid_request` for a cap of no tokens at all, which is no advice to be left out
 */
export function writeGenerationConfig(
  request: GenerationRequest,
  format: OutputFormat | undefined,
  can: Capabilities,
  lose: Lose,
): JsonObject | undefined {
  const { words } = request;
  /** The value where the model takes it; else nothing, told as lost. */
  const unless = <T>(
    takes: boolean,
    value: T | undefined,
    word: string,
  ): T | undefined => {
    if (takes || value === undefined) return value;
    lose(word);
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
  if (stops !== undefined && stops.length > can.maxStops) lose(words.stop);
  const stopSequences = stops?.slice(0, can.maxStops);
  const thinking = writeThinking(request.reasoning, can);
  if (thinking.lost) lose(words.reasoning);
  if (request.maxTokens === 0) {
    throw invalidField(
      words.maxTokens,
      "this model generates at least one token",
    );
  }
  if ((request.maxTokens ?? 0) > (can.maxOutputTokens ?? Infinity)) {
    lose(words.maxTokens);
  }
  if ((temperature ?? 0) > can.maxTemperature) lose(words.temperature);
  // Asked for as told, and told as lost all the same: no neutral event carries them back.
  if (request.logprobs !== undefined) lose(words.logprobs);

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

/** The wire's seed has 32 bits; a larger one would fail the whole call for a piece of advice. */
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
