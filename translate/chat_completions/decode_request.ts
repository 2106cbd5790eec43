/**
 * A caller's request → the neutral request: checks it against `wire.ts`, reads the fields beside messages and tools, and names
 * what the neutral request has no place for.
 *
 * @module
 */
import { invalidField } from "../error.ts";
import { isObject } from "../json.ts";
import type {
  FieldWords,
  GenerationRequest,
  OutputFormat,
  Reasoning,
} from "../request.ts";
import { checked } from "../schema.ts";
import { decodeMessages } from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import { noteUnknown, nothingUnread, type Unread } from "./unread.ts";
import {
  chatCompletionsRequest,
  type ChatEffort,
  type ChatRequest,
  isKnownFormat,
} from "./wire.ts";

const WORDS: FieldWords = {
  messages: "messages",
  system: "messages",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "parallel_tool_calls",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: "stop",
  format: "response_format",
  reasoning: "reasoning_effort",
  user: "user",
  serviceTier: "service_tier",
  candidates: "n",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logprobs: "logprobs",
};

/** What is read here or in the modules for messages and tools; whatever else a request says is unmapped. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "n",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "reasoning_effort",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "logprobs",
  "top_logprobs",
  "user",
  "safety_identifier",
  "service_tier",
  "modalities",
  "audio",
  "web_search_options",
]);
const STREAM_OPTION_FIELDS: ReadonlySet<string> = new Set(["include_usage"]);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "json_schema"]);

/**
 * Reads a caller's request strictly.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function decodeRequest(body: unknown): GenerationRequest {
  if (isObject(body) && body["system"] !== undefined) {
    throw invalidField(
      "system",
      'is not a field of this endpoint; put the system prompt in the first entry of messages, with role "system"',
    );
  }
  const request = checked(chatCompletionsRequest, body);
  const unread = nothingUnread();
  const conversation = decodeMessages(request.messages, unread);
  const { legacy, ...toolSet } = decodeTools(request, unread);
  const settings = decodeSettings(request, unread);
  noteUnknown(request, READ_FIELDS, "", unread);
  noteDemands(request, unread);
  return {
    model: request.model,
    stream: request.stream === true,
    ...conversation,
    ...toolSet,
    ...settings,
    // The old form knows one call per reply.
    ...(legacy ? { parallelTools: false, legacyFunctions: true } : {}),
    wantUsage: request.stream === true &&
      request.stream_options?.include_usage === true,
    words: wordsOf(request, legacy),
    unmapped: [...unread.unmapped],
    essential: [...unread.essential],
  };
}

type Settings = Partial<
  Omit<GenerationRequest, "model" | "stream" | "system" | "turns" | "words">
>;

function decodeSettings(request: ChatRequest, unread: Unread): Settings {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  const user = request.safety_identifier ?? request.user;
  const format = decodeFormat(request, unread);
  const stop = typeof request.stop === "string" ? [request.stop] : request.stop;
  const tier = request.service_tier;
  if (tier && tier !== "auto" && tier !== "default") {
    unread.unmapped.add("service_tier");
  }
  if (request.user && request.user !== user) unread.unmapped.add("user");
  if (request.stream_options) {
    noteUnknown(
      request.stream_options,
      STREAM_OPTION_FIELDS,
      "stream_options.",
      unread,
    );
  }
  if (request.logprobs !== true && request.top_logprobs) {
    unread.unmapped.add("top_logprobs");
  }
  return {
    ...given("maxTokens", maxTokens),
    ...given("temperature", request.temperature),
    ...given("topP", request.top_p),
    // Zero and below is how servers that know the field switch it off.
    ...given("topK", (request.top_k ?? 0) > 0 ? request.top_k : undefined),
    ...(stop && stop.length > 0 ? { stop } : {}),
    ...given("format", format),
    ...given("reasoning", decodeEffort(request.reasoning_effort)),
    ...given("parallelTools", request.parallel_tool_calls),
    ...(user ? { user } : {}),
    ...(tier === "auto" || tier === "default" ? { serviceTier: tier } : {}),
    ...given("candidates", request.n),
    ...given("seed", request.seed),
    ...given("presencePenalty", request.presence_penalty),
    ...given("frequencyPenalty", request.frequency_penalty),
    ...given(
      "logprobs",
      request.logprobs === true ? request.top_logprobs ?? 0 : undefined,
    ),
  };
}

/** A field where a value was given, nothing where it was null or absent. */
function given<K extends string, V>(
  key: K,
  value: V | null | undefined,
): { readonly [P in K]?: V } {
  if (value === null || value === undefined) return {};
  // A computed key widens to an index signature; the key is K by the parameter above.
  return { [key]: value } as { readonly [P in K]?: V };
}

/** Effort words are the neutral ones, but for the one that switches reasoning off. */
function decodeEffort(
  effort: ChatEffort | null | undefined,
): Reasoning | undefined {
  if (effort === null || effort === undefined) return undefined;
  return effort === "none" ? { mode: "off" } : { mode: "on", effort };
}

function decodeFormat(
  request: ChatRequest,
  unread: Unread,
): OutputFormat | undefined {
  const format = request.response_format;
  if (format === null || format === undefined) return undefined;
  if (!isKnownFormat(format)) {
    unread.essential.add("response_format");
    return undefined;
  }
  noteUnknown(format, FORMAT_FIELDS, "response_format.", unread);
  switch (format.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      return { type: "json" };
    case "json_schema": {
      const { name, description, schema, strict } = format.json_schema;
      if (!schema) return { type: "json" };
      return {
        type: "schema",
        ...(name === "" ? {} : { name }),
        ...(typeof description === "string" ? { description } : {}),
        schema,
        ...(typeof strict === "boolean" ? { strict } : {}),
      };
    }
  }
}

/** Fields that change what the reply is, and that only an upstream of this format can honour. */
function noteDemands(request: ChatRequest, unread: Unread): void {
  if ((request.n ?? 1) > 1) unread.essential.add("n");
  if (request.modalities?.some((modality) => modality !== "text")) {
    unread.essential.add("modalities");
  }
  if (request.audio) unread.essential.add("audio");
  if (request.web_search_options) unread.essential.add("web_search_options");
}

function wordsOf(request: ChatRequest, legacy: boolean): FieldWords {
  return {
    ...WORDS,
    ...(typeof request.max_completion_tokens === "number"
      ? { maxTokens: "max_completion_tokens" }
      : {}),
    ...(request.safety_identifier ? { user: "safety_identifier" } : {}),
    ...(legacy
      ? {
        tools: "functions",
        toolChoice: "function_call",
        parallelTools: "functions",
      }
      : {}),
  };
}
