/**
 * Decodes a caller's request into the neutral request: checks it against the schema in `wire.ts`,
 * decodes the fields beside messages and tools, and records the fields that have no neutral
 * counterpart.
 *
 * @module
 */
import { isObject, objectOr, textIn } from "../../bytes/json.ts";
import { refuseMessageShapes } from "../../model/other_format.ts";
import type {
  GenerationRequest,
  OutputFormat,
  Reasoning,
  RequestSettings,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";
import { markPaths } from "../../model/cache_marks.ts";
import { decodePromptCache } from "../../model/prompt_cache.ts";
import { checked } from "../../model/schema.ts";
import { refuseSystem } from "./check_passable.ts";
import { decodeMessages } from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import {
  asJson,
  newUnmappedFields,
  noteUnknown,
  type UnmappedFields,
} from "../../model/unmapped_fields.ts";
import {
  chatCompletionsRequest,
  type ChatEffort,
  type ChatRequest,
  isKnownFormat,
} from "./wire.ts";

const WORDS: FieldNames = {
  messages: "messages",
  image: "image_url",
  document: "file",
  audio: "input_audio",
  arguments: "messages[].tool_calls[].function.arguments",
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
  promptCache: "prompt_cache_options",
  candidates: "n",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logprobs: "logprobs",
};

/**
 * Fields that this module or the modules for messages and tools decode. Any other field of a
 * request is unmapped.
 */
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
  "prompt_cache_options",
]);
const STREAM_OPTION_FIELDS: ReadonlySet<string> = new Set(["include_usage"]);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "json_schema"]);

/** Where marks of what to cache are. */
const MARK = "messages[].content[].prompt_cache_breakpoint";

/**
 * Decodes a caller's request strictly.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function decodeRequest(body: unknown): GenerationRequest {
  refuseSystem(body);
  refuseMessageShapes(body);
  const request = checked(chatCompletionsRequest, body);
  const unread = newUnmappedFields();
  const { prompt_cache_options: options } = asJson(request);
  const conversation = decodeMessages(request.messages, options, unread);
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
    ...decodePromptCache(options, unread),
    ...markPaths(unread.unmapped, { system: MARK, turns: MARK }),
    // The deprecated form allows one call per reply.
    ...(legacy ? { parallelTools: false, legacyFunctions: true } : {}),
    wantUsage: request.stream === true &&
      request.stream_options?.include_usage === true,
    fieldNames: wordsOf(request, legacy),
    unmapped: [...unread.unmapped],
    essential: [...unread.essential],
  };
}

function decodeSettings(
  request: ChatRequest,
  unread: UnmappedFields,
): RequestSettings {
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
    // Servers that support the field treat zero and negative values as "off".
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

/** An object with the field, or an empty object if the value is null or undefined. */
function given<K extends string, V>(
  key: K,
  value: V | null | undefined,
): { readonly [P in K]?: V } {
  if (value === null || value === undefined) return {};
  // TypeScript widens a computed key to an index signature; the parameter's type shows that the
  // key is K.
  return { [key]: value } as { readonly [P in K]?: V };
}

/**
 * Maps an effort to the neutral one; `none` switches reasoning off, `default` leaves the effort
 * to the model.
 */
function decodeEffort(
  effort: ChatEffort | null | undefined,
): Reasoning | undefined {
  if (effort === null || effort === undefined || effort === "default") {
    return undefined;
  }
  return effort === "none" ? { mode: "off" } : { mode: "on", effort };
}

function decodeFormat(
  request: ChatRequest,
  unread: UnmappedFields,
): OutputFormat | undefined {
  const format = request.response_format;
  if (format === null || format === undefined) return undefined;
  if (!isKnownFormat(format)) {
    unread.essential.add("response_format");
    return undefined;
  }
  const beside = format.type === "json_object"
    ? schemaBeside(format)
    : undefined;
  noteUnknown(
    format,
    beside === undefined
      ? FORMAT_FIELDS
      : new Set([...FORMAT_FIELDS, "schema"]),
    "response_format.",
    unread,
  );
  switch (format.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      return beside ?? { type: "json" };
    case "json_schema": {
      const { name, description, schema, strict } = format.json_schema;
      if (!schema) return { type: "json" };
      return {
        type: "schema",
        ...(name ? { name } : {}),
        ...(typeof description === "string" ? { description } : {}),
        schema,
        ...(typeof strict === "boolean" ? { strict } : {}),
      };
    }
  }
}

/**
 * The schema that some clients send beside `json_object`, which other servers of this format
 * accept.
 */
function schemaBeside(format: object): OutputFormat | undefined {
  const { schema, json_schema } = asJson(format);
  if (isObject(schema)) return { type: "schema", schema };
  const named = objectOr(json_schema);
  const inner = named["schema"];
  const name = textIn(named["name"]);
  return isObject(inner)
    ? { type: "schema", ...(name === undefined ? {} : { name }), schema: inner }
    : undefined;
}

/**
 * Records fields that change the content of the reply and that only an upstream of this format
 * supports.
 */
function noteDemands(request: ChatRequest, unread: UnmappedFields): void {
  if ((request.n ?? 1) > 1) unread.essential.add("n");
  if (request.modalities?.some((modality) => modality !== "text")) {
    unread.essential.add("modalities");
  }
  if (request.audio) unread.essential.add("audio");
  if (request.web_search_options) unread.essential.add("web_search_options");
}

function wordsOf(request: ChatRequest, legacy: boolean): FieldNames {
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
