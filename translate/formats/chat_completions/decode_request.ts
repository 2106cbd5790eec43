/**
 * Decodes a client's request into the neutral request: checks it against the schema in `wire.ts`,
 * decodes the fields beside messages and tools, and records the fields that have no neutral
 * counterpart.
 */
import { decodeSchema } from "../../families/chat/wire.ts";
import { isObject, objectOr, textIn } from "../../bytes/json.ts";
import { refuseMessageShapes } from "../../errors/other_format.ts";
import type {
  GenerationRequest,
  OutputFormat,
  Reasoning,
} from "../../model/request.ts";
import type { OtherNames } from "../../model/field_names.ts";
import { markPaths } from "../../turns/cache_marks.ts";
import { check } from "../../model/schema.ts";
import {
  decodeSettings,
  namesIn,
  settingsShape,
} from "../../model/settings_table.ts";
import { refuseSystem } from "./check_passable.ts";
import { decodeMessages } from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import {
  asJson,
  newUnknownFields,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { SETTINGS } from "./settings.ts";
import {
  chatCompletionsRequest,
  type ChatEffort,
  type ChatRequest,
  isKnownFormat,
} from "./wire.ts";
import { type Steps } from "../../steps.ts";

const WORDS: OtherNames = {
  messages: "messages",
  image: "image_url",
  document: "file",
  audio: "input_audio",
  arguments: "messages[].tool_calls[].function.arguments",
  system: "messages",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "parallel_tool_calls",
  format: "response_format",
  reasoning: "reasoning_effort",
};

/** Names of requests with the deprecated `functions`. */
const LEGACY_WORDS: Partial<OtherNames> = {
  tools: "functions",
  toolChoice: "function_call",
  parallelTools: "functions",
};

/**
 * Fields that this module or the modules for messages and tools decode. Any other field of a
 * request is an unknown field.
 */
const READ_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "reasoning_effort",
  "modalities",
  "audio",
  "web_search_options",
  ...Object.keys(settingsShape(SETTINGS)),
]);
const STREAM_OPTION_FIELDS: ReadonlySet<string> = new Set(["include_usage"]);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "json_schema"]);

/** Where marks of what to cache are. */
const MARK = "messages[].content[].prompt_cache_breakpoint";

/**
 * Decodes a client's request strictly.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function* decodeRequest(body: unknown): Steps<GenerationRequest> {
  refuseSystem(body);
  refuseMessageShapes(body);
  const request = check(chatCompletionsRequest, body);
  yield;
  const unknown = newUnknownFields();
  const json = asJson(request);
  const { prompt_cache_options: options } = json;
  const conversation = yield* decodeMessages(
    request.messages,
    options,
    unknown,
  );
  const { legacy, ...toolSet } = decodeTools(request, unknown);
  const settings = decodeSettings(SETTINGS, json, unknown);
  const format = decodeFormat(request, unknown);
  const reasoning = decodeEffort(request.reasoning_effort);
  const parallel = request.parallel_tool_calls;
  noteUnknown(
    request.stream_options,
    STREAM_OPTION_FIELDS,
    "stream_options.",
    unknown,
  );
  noteUnknown(request, READ_FIELDS, "", unknown);
  noteDemands(request, unknown);
  return {
    model: request.model,
    stream: request.stream === true,
    ...conversation,
    ...toolSet,
    ...settings,
    ...(format === undefined ? {} : { format }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(typeof parallel === "boolean" ? { parallelTools: parallel } : {}),
    ...markPaths(unknown.optional, { system: MARK, turns: MARK }),
    // The deprecated form allows one call per reply.
    ...(legacy ? { parallelTools: false, legacyFunctions: true } : {}),
    wantUsage: request.stream === true &&
      request.stream_options?.include_usage === true,
    fieldNames: {
      ...WORDS,
      ...(legacy ? LEGACY_WORDS : {}),
      ...namesIn(SETTINGS, json),
    },
    unknownFields: [...unknown.optional],
    essential: [...unknown.essential],
  };
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
  unknown: UnknownFields,
): OutputFormat | undefined {
  const format = request.response_format;
  if (format === null || format === undefined) return undefined;
  if (!isKnownFormat(format)) {
    unknown.essential.add("response_format");
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
    unknown,
  );
  switch (format.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      return beside ?? { type: "json" };
    case "json_schema":
      return decodeSchema(format.json_schema);
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
function noteDemands(request: ChatRequest, unknown: UnknownFields): void {
  if (request.modalities?.some((modality) => modality !== "text")) {
    unknown.essential.add("modalities");
  }
  if (request.audio) unknown.essential.add("audio");
  if (request.web_search_options) unknown.essential.add("web_search_options");
}
