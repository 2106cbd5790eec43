/**
 * Decodes a client's request into the neutral request: checks it against the schema in `wire.ts`,
 * decodes the fields beside input and tools, and records the fields that have no neutral
 * counterpart.
 */
import { decodeSchema } from "../../families/chat/wire.ts";
import { objectOr, textIn } from "../../bytes/json.ts";
import type {
  GenerationRequest,
  OutputFormat,
  Reasoning,
} from "../../model/request.ts";
import type { FieldNames, OtherNames } from "../../model/field_names.ts";
import { markPaths } from "../../turns/cache_marks.ts";
import { check } from "../../model/schema.ts";
import {
  decodeSettings,
  namesIn,
  settingsShape,
} from "../../model/settings_table.ts";
import { refuseOther, refuseState } from "./check_passable.ts";
import { decodeMessages } from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import {
  asJson,
  newUnknownFields,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { toolNames } from "./tool_names.ts";
import { withClientTools } from "./client_tools.ts";
import { PROBABILITIES, SETTINGS } from "./settings.ts";
import {
  isKnownFormat,
  isKnownItem,
  isKnownTool,
  isMessage,
  type ResponsesRequest,
  responsesRequest,
} from "./wire.ts";
import { type Steps } from "../../steps.ts";

const WORDS: OtherNames = {
  messages: "input",
  image: "input_image",
  document: "input_file",
  audio: "input_audio",
  arguments: "input[].arguments",
  system: "instructions",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "parallel_tool_calls",
  format: "text.format",
  reasoning: "reasoning",
};

/**
 * Fields that this module or the modules for input and tools decode, and fields that other
 * formats can ignore: cache hints, labels, padding.
 */
const READ_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tool_calls",
  "text",
  "reasoning",
  "include",
  "store",
  "background",
  "previous_response_id",
  "conversation",
  "prompt",
  "truncation",
  "metadata",
  "client_metadata",
  "prompt_cache_retention",
  ...Object.keys(settingsShape(SETTINGS)),
]);
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  "format",
  ...Object.keys(settingsShape(SETTINGS, "text")),
]);
const FORMAT_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "schema",
  "strict",
]);
const EFFORT_FIELDS: ReadonlySet<string> = new Set(["effort"]);
const TEXT_UPDATE_FIELDS: ReadonlySet<string> = new Set(["format"]);
const REASONING_FIELDS: ReadonlySet<string> = new Set([
  "effort",
  "summary",
  "generate_summary",
  "context",
  "mode",
]);
/** Values of `reasoning.context` that are the default, so they need not be reported as dropped. */
const DEFAULT_CONTEXTS: ReadonlySet<string> = new Set(["auto", "current_turn"]);
/** Values of `include` whose data is in every reply if the upstream sends it. */
const ALWAYS_INCLUDED: ReadonlySet<string> = new Set([
  "reasoning.encrypted_content",
  PROBABILITIES,
]);

/** The path of the marks of what to cache. */
const MARK = "input[].content[].prompt_cache_breakpoint";

/**
 * Decodes a client's request strictly.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function* decodeRequest(body: unknown): Steps<GenerationRequest> {
  refuseOther(body);
  const given = check(responsesRequest, withClientTools(body));
  yield;
  refuseState(body);
  const unknown = newUnknownFields();
  const { request, words } = updatedRequest(given, unknown);
  const names = toolNames(objectOr(body));
  const { prompt_cache_options: options } = objectOr(body);
  const { system, turns } = yield* decodeMessages(
    typeof request.input === "string"
      ? [{ role: "user", content: request.input }]
      : request.input,
    names,
    options,
    unknown,
  );
  const instructions = textIn(request.instructions);
  const toolSet = decodeTools(request, names, unknown);
  const format = decodeFormat(request, words.format, unknown);
  const reasoning = decodeReasoning(request);
  const parallel = request.parallel_tool_calls;
  noteUnknown(request, READ_FIELDS, "", unknown);
  noteUnknownFields(request, unknown);
  return {
    model: request.model,
    stream: request.stream === true,
    system: [
      ...(instructions === undefined
        ? []
        : [{ type: "text", text: instructions } as const]),
      ...system,
    ],
    turns,
    ...toolSet,
    ...decodeSettings(SETTINGS, asJson(request), unknown),
    ...(format === undefined ? {} : { format }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(typeof parallel === "boolean" ? { parallelTools: parallel } : {}),
    ...markPaths(unknown.optional, { system: MARK, turns: MARK }),
    wantUsage: true,
    fieldNames: words,
    unknownFields: [...unknown.optional],
    essential: [...unknown.essential],
  };
}

/**
 * The request with the settings of its last configuration updates, which are in force when it is
 * answered, and its words for them.
 */
function updatedRequest(
  given: ResponsesRequest,
  unknown: UnknownFields,
): { readonly request: ResponsesRequest; readonly words: FieldNames } {
  let request = given;
  let words: FieldNames = {
    ...WORDS,
    ...namesIn(SETTINGS, asJson(given)),
    ...(objectOr(given)["top_logprobs"] ? {} : { logprobs: "include" }),
  };
  if (typeof given.input === "string") return { request, words };
  given.input.forEach((item, index) => {
    if (isMessage(item) || !isKnownItem(item)) return;
    if (item.type !== "configuration_update") return;
    noteUnknown(item.reasoning, EFFORT_FIELDS, "input[].reasoning.", unknown);
    noteUnknown(item.text, TEXT_UPDATE_FIELDS, "input[].text.", unknown);
    const effort = item.reasoning?.effort;
    const format = item.text?.format;
    if (effort) {
      request = { ...request, reasoning: { ...request.reasoning, effort } };
      words = { ...words, reasoning: `input[${index}].reasoning.effort` };
    }
    if (format) {
      request = { ...request, text: { ...request.text, format } };
      words = { ...words, format: `input[${index}].text.format` };
    }
  });
  return { request, words };
}

/** Maps an effort to the neutral one; `none` switches reasoning off. */
function decodeReasoning(request: ResponsesRequest): Reasoning | undefined {
  const { effort, summary, generate_summary } = request.reasoning ?? {};
  const shown = textIn(summary) ?? textIn(generate_summary);
  const visible = shown === undefined || shown === "none"
    ? {}
    : { visible: true };
  if (effort === "none") return { mode: "off" };
  if (effort) return { mode: "on", effort, ...visible };
  return "visible" in visible ? { mode: "auto", ...visible } : undefined;
}

function decodeFormat(
  request: ResponsesRequest,
  path: string,
  unknown: UnknownFields,
): OutputFormat | undefined {
  const format = request.text?.format;
  if (format === null || format === undefined) return undefined;
  if (!isKnownFormat(format)) {
    unknown.essential.add(path);
    return undefined;
  }
  noteUnknown(format, FORMAT_FIELDS, `${path}.`, unknown);
  switch (format.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      return { type: "json" };
    case "json_schema":
      return decodeSchema(format);
  }
}

/** Records optional fields that no other format can express, unless they repeat a default. */
function noteUnknownFields(
  request: ResponsesRequest,
  unknown: UnknownFields,
): void {
  const { optional } = unknown;
  const { text, reasoning, truncation } = request;
  if (truncation && truncation !== "disabled") optional.add("truncation");
  if (text) {
    noteUnknown(text, TEXT_FIELDS, "text.", unknown);
  }
  if (reasoning) {
    noteUnknown(reasoning, REASONING_FIELDS, "reasoning.", unknown);
    const { mode, context } = reasoning;
    if (mode && mode !== "standard") optional.add("reasoning.mode");
    if (context && !DEFAULT_CONTEXTS.has(context)) {
      optional.add("reasoning.context");
    }
  }
  if (request.include?.some((wish) => !ALWAYS_INCLUDED.has(wish)) === true) {
    optional.add("include");
  }
  const hasHosted = request.tools?.some((tool) => !isKnownTool(tool)) === true;
  if (request.max_tool_calls && hasHosted) optional.add("max_tool_calls");
}
