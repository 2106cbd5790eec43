/**
 * Encodes a request as the body of a generate-content call. The model id and the choice of
 * streaming are in the URL, which the gateway builds. `encode_messages.ts`, `encode_tools.ts` and
 * `encode_config.ts` encode the parts.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type {
  GenerationRequest,
  OutputFormat,
  TextPart,
} from "../../model/request.ts";
import { withoutBillingLine } from "../../turns/without_billing_line.ts";
import { calledNames } from "../../turns/called_names.ts";
import {
  droppedFieldsOf,
  refuseEssential,
} from "../../model/dropped_fields.ts";
import { type Drop, encodeMessages } from "./encode_messages.ts";
import { encodeConfig } from "./encode_config.ts";
import { textParts } from "./encode_media.ts";
import { changedFunctionNames, functionName } from "./function_names.ts";
import { encodeTools, type FormatTool } from "./encode_tools.ts";
import { type Steps } from "../../steps.ts";

/**
 * Name of the function that replaces structured output; underscores are added where the client has
 * one of that name.
 */
const FORMAT_TOOL = "final_answer";

/** Asks for JSON on models that refuse the JSON output field together with functions. */
const JSON_HINT = "Reply with one JSON object and nothing else.";

/**
 * Encodes a request for an upstream of this dialect.
 *
 * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
 * dropped nor expressed
 */
export function* encodeRequest(
  given: GenerationRequest,
  can: Capabilities,
): Steps<EncodedRequest> {
  const request = withUserTurn(given);
  refuseEssential(request);
  const dropped = droppedFieldsOf(request, []);
  const drop: Drop = dropped.path;
  const { format, formatTool, hint } = chooseFormat(request, can, drop);
  const contents = yield* encodeMessages(request, can, drop);
  const tools = encodeTools(request, formatTool, can, drop);
  const generationConfig = encodeConfig(request, format, can, dropped);
  for (const path of request.unknownFields) drop(path);

  const system = [
    ...systemParts(request.system),
    ...(hint === undefined ? [] : [{ text: hint }]),
  ];
  return {
    body: {
      ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
      contents,
      ...tools,
      ...(generationConfig === undefined ? {} : { generationConfig }),
    },
    headers: {},
    dropped: dropped.all(),
    context: {
      toolNames: changedFunctionNames(toolNames(request), can.maxToolName),
      ...(formatTool === undefined ? {} : { formatTool: formatTool.name }),
    },
  };
}

/** The format requires a turn, so a lone system prompt becomes a user turn. */
function withUserTurn(request: GenerationRequest): GenerationRequest {
  return request.turns.length > 0 || request.system.length === 0 ? request : {
    ...request,
    system: [],
    turns: [{ role: "user", parts: request.system }],
  };
}

/** Every name that a call in the reply may have. */
function toolNames(request: GenerationRequest): ReadonlySet<string> {
  const names = new Set(calledNames(request.turns));
  for (const tool of request.tools ?? []) {
    if (tool.type === "function") names.add(tool.name);
  }
  return names;
}

/**
 * Every part of the system prompt, without the line that Claude-style clients change on each
 * request: it defeats prompt caches.
 */
function systemParts(system: readonly TextPart[]): readonly JsonObject[] {
  return system.flatMap(({ text }) => textParts(withoutBillingLine(text)));
}

interface ChosenFormat {
  readonly format?: OutputFormat;
  readonly formatTool?: FormatTool;
  readonly hint?: string;
}

/**
 * Chooses how the output format is expressed: in its own field; as a function that the model must
 * call; or, for JSON without a schema, in the prompt. Models before Gemini 3, which reason by
 * budget or not at all, refuse JSON output together with functions.
 */
function chooseFormat(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): ChosenFormat {
  const { format } = request;
  if (format === undefined || format.type === "text") return {};
  const functions = (request.tools ?? []).some((tool) =>
    tool.type === "function"
  );
  const withTools = !functions || can.reasoning === "level";
  if (format.type === "json") {
    if (withTools) return { format };
    drop(request.fieldNames.format);
    return { hint: JSON_HINT };
  }
  if (withTools && can.structuredOutput) return { format };
  let name = FORMAT_TOOL;
  const taken = new Set(
    [...toolNames(request)].map((tool) => functionName(tool, can.maxToolName)),
  );
  while (taken.has(name)) name += "_";
  return { formatTool: { name, format } };
}
