/**
 * Decodes a request in the messages format. Its schema is in `wire.ts`, `decode_messages.ts`
 * decodes its turns, `encode_request.ts` is the inverse.
 */
import { markPaths } from "../../turns/cache_marks.ts";
import { ApiError, invalidField } from "../../model/error.ts";
import { refuseChatShapes } from "../../errors/other_format.ts";
import type {
  Effort,
  GenerationRequest,
  MarkPaths,
  OutputFormat,
  Reasoning,
  TextPart,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";
import { check } from "../../model/schema.ts";
import { decodeSettings, settingsShape } from "../../model/settings_table.ts";
import {
  asJson,
  newUnknownFields,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { withoutBillingLine } from "../../turns/without_billing_line.ts";
import { markOf } from "./cache_marks.ts";
import { continuesThread } from "./check_passable.ts";
import { decodeMessages } from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import { SETTINGS } from "./settings.ts";
import {
  type CountTokensRequest,
  countTokensRequest,
  messagesRequest,
  type WireThinkingConfig,
} from "./wire.ts";
import { type Steps } from "../../steps.ts";

/** This dialect's names of the neutral fields. */
const WORDS: FieldNames = {
  ...SETTINGS.names,
  messages: "messages",
  image: "image",
  document: "document",
  audio: "input_audio",
  arguments: "messages[].content[].input",
  system: "system",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "tool_choice.disable_parallel_tool_use",
  format: "output_config.format",
  reasoning: "thinking",
};

const TOP_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "stream",
  "metadata",
  "cache_control",
  ...Object.keys(settingsShape(SETTINGS)),
]);
/**
 * Fields whose loss would change the meaning: without them the model answers instead of summarizing
 * the conversation, or lacks the tools of a server, the files of a container and its skills.
 */
const ESSENTIAL_FIELDS: readonly string[] = [
  "compaction",
  "mcp_servers",
  "container",
];
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...TOP_FIELDS,
  ...ESSENTIAL_FIELDS,
]);
const SYSTEM_FIELDS: ReadonlySet<string> = new Set(["type", "text"]);
/** Where marks of what to cache are that parts and tools carry. */
const MARK_PATHS: MarkPaths = {
  system: "system[].cache_control",
  turns: "messages[].content[].cache_control",
  tools: "tools[].cache_control",
};
const METADATA_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(settingsShape(SETTINGS, "metadata")),
);
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(["effort", "format"]);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "schema"]);
const THINKING_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "budget_tokens",
  "display",
]);
/**
 * Decodes the body of `POST /v1/messages`.
 *
 * @throws {ApiError} `invalid_request` with the path of the first field at fault
 */
export function* decodeRequest(body: unknown): Steps<GenerationRequest> {
  refuseChatShapes(body);
  const wire = check(messagesRequest, body);
  yield;
  const unknown = newUnknownFields();
  const settings = decodeSettings(SETTINGS, asJson(wire), unknown);
  if (settings.temperature !== undefined && settings.topP !== undefined) {
    throw invalidField("top_p", "cannot be used together with temperature");
  }
  if (
    wire.thinking?.type === "enabled" &&
    wire.thinking.budget_tokens >= (settings.maxTokens ?? Infinity)
  ) {
    throw invalidField(
      "thinking.budget_tokens",
      "must be less than max_tokens",
    );
  }
  noteUnknown(wire.metadata, METADATA_FIELDS, "metadata.", unknown);
  return {
    ...(yield* decodeShared(wire, unknown)),
    ...settings,
    stream: wire.stream ?? false,
  };
}

/**
 * Decodes the body of `POST /v1/messages/count_tokens`: a request without the fields that only
 * generation needs.
 *
 * @throws {ApiError} `invalid_request` with the path of the first field at fault
 */
export function* decodeCountTokens(
  body: unknown,
): Steps<GenerationRequest> {
  refuseChatShapes(body);
  const wire = check(countTokensRequest, body);
  yield;
  return yield* decodeShared(wire, newUnknownFields());
}

function* decodeShared(
  wire: CountTokensRequest,
  unknown: UnknownFields,
): Steps<GenerationRequest> {
  const continued = continuesThread(wire);
  noteUnknown(
    wire,
    continued ? new Set([...KNOWN_FIELDS, "thread"]) : KNOWN_FIELDS,
    "",
    unknown,
  );
  noteEssential(wire, unknown);
  noteUnknown(wire.output_config, OUTPUT_FIELDS, "output_config.", unknown);
  noteUnknown(wire.thinking, THINKING_FIELDS, "thinking.", unknown);
  const older = wire.output_config?.format === undefined ||
    wire.output_config.format === null;
  const format = decodeFormat(wire, older, unknown);
  const effort = wire.output_config?.effort ?? undefined;
  const reasoning = decodeReasoning(wire.thinking, effort);
  const toolSet = decodeTools(wire, unknown);
  const system = decodeSystem(wire.system, unknown);
  const turns = yield* decodeMessages(wire.messages, unknown);
  const { cacheMark: promptCache } = markOf(wire);
  return {
    model: wire.model,
    stream: false,
    system,
    turns,
    ...toolSet,
    ...(format === undefined ? {} : { format }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(promptCache === undefined ? {} : { promptCache }),
    ...markPaths(unknown.optional, MARK_PATHS),
    wantUsage: false,
    fieldNames: words(
      older && format !== undefined,
      wire.thinking === undefined && effort !== undefined,
    ),
    unknownFields: [...unknown.optional],
    essential: [...unknown.essential],
    ...(continued ? { refusal: lostThread() } : {}),
  };
}

function noteEssential(
  wire: CountTokensRequest,
  { essential }: UnknownFields,
): void {
  const fields = asJson(wire);
  for (const field of ESSENTIAL_FIELDS) {
    const value = fields[field];
    if (value === undefined || value === null) continue;
    if (!Array.isArray(value) || value.length > 0) essential.add(field);
  }
}

/** Made again only where the request has its older or its only name. */
function words(hasOlderFormat: boolean, hasEffortAlone: boolean): FieldNames {
  return !hasOlderFormat && !hasEffortAlone ? WORDS : {
    ...WORDS,
    ...(hasOlderFormat ? { format: "output_format" } : {}),
    ...(hasEffortAlone ? { reasoning: "output_config.effort" } : {}),
  };
}

/** Client libraries send the whole conversation on this code. */
function lostThread(): ApiError {
  const code = "thread_not_found";
  const { kind, message, details } = invalidField(
    "thread",
    "the conversation before these messages is not kept for this model; send all of its messages",
    code,
  );
  return new ApiError(kind, message, {
    ...details,
    vendorError: {
      family: "messages",
      fields: { details: { error_code: code } },
    },
  });
}

function decodeSystem(
  system: CountTokensRequest["system"],
  unknown: UnknownFields,
): readonly TextPart[] {
  if (system === undefined) return [];
  if (typeof system === "string") {
    const text = withoutBillingLine(system);
    return text === "" ? [] : [{ type: "text", text }];
  }
  const parts: TextPart[] = [];
  for (const block of system) {
    const text = withoutBillingLine(block.text);
    if (text === "" && block.text !== "") continue;
    noteUnknown(block, SYSTEM_FIELDS, "system[].", unknown);
    parts.push({ type: "text", text, ...markOf(block) });
  }
  return parts;
}

function decodeFormat(
  wire: CountTokensRequest,
  older: boolean,
  unknown: UnknownFields,
): OutputFormat | undefined {
  const format = older ? wire.output_format : wire.output_config?.format;
  if (format === undefined || format === null) return undefined;
  noteUnknown(
    format,
    FORMAT_FIELDS,
    older ? "output_format." : "output_config.format.",
    unknown,
  );
  return { type: "schema", schema: format.schema };
}

/**
 * `between_tools` leaves it to the model where to reason; an effort alone does not decide whether
 * to reason.
 */
function decodeReasoning(
  thinking: WireThinkingConfig | undefined,
  effort: Effort | undefined,
): Reasoning | undefined {
  if (thinking === undefined && effort === undefined) return undefined;
  const given = effort === undefined ? {} : { effort };
  switch (thinking?.type) {
    case undefined:
    case "between_tools":
      return { mode: "auto", ...given };
    case "disabled":
      return { mode: "off", ...given };
    case "adaptive":
      return { mode: "auto", ...given, ...visibility(thinking.display) };
    case "enabled":
      return {
        mode: "on",
        ...given,
        budgetTokens: thinking.budget_tokens,
        ...visibility(thinking.display),
      };
  }
}

function visibility(
  display: string | null | undefined,
): { readonly visible?: boolean } {
  return display === undefined || display === null
    ? {}
    : { visible: display !== "omitted" };
}
