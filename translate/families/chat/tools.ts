/**
 * Rules for tools of the chat and the Responses formats: which tools a format can express, and
 * which fields accompany them.
 */
import { strictTools } from "./strict_tools.ts";
import { compact } from "../../bytes/compact.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { DecodeContext } from "../../dialect.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { freeTextNames } from "../../turns/free_text.ts";
import { changedToolNames } from "../../turns/names.ts";
import { calledNames } from "../../turns/called_names.ts";
import { translatedSearch } from "../../turns/web_search.ts";
import {
  type DroppedFields,
  droppedToolPath,
} from "../../model/dropped_fields.ts";
import { invalidField } from "../../model/error.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OpaqueTool,
  Tool,
  ToolChoice,
} from "../../model/request.ts";

/**
 * The fields of tools and the form of the reply, and the context that the reply's decoder needs.
 */
export interface EncodedTools {
  /** Top-level fields of the upstream request. */
  readonly fields: JsonObject;
  /** The changed tool names, and the name of a tool that replaces a schema. */
  readonly context: DecodeContext;
}

/** Name of a schema that the client did not name, since the formats require one. */
export const DEFAULT_SCHEMA_NAME = "response";

/** A request's tools and their names. */
interface OfferedTools {
  /** The tools that the format can express. */
  readonly kept: readonly Tool[];
  readonly names: readonly string[];
  /** The names that had to change, those of earlier calls included. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** The names of tools that are sent as tools with free text. */
  readonly freeText: ReadonlySet<string>;
}

/**
 * Reads a request's tools.
 *
 * @throws {ApiError} `invalid_request` if the only tools, or the chosen tool, belong to another
 * format
 */
export function offeredTools(
  request: GenerationRequest,
  format: OpaqueTool["from"],
  can: Capabilities,
  dropped: DroppedFields,
): OfferedTools {
  const encodable = encodableTools(request, format, can, dropped);
  const kept = can.strictTools
    ? strictTools(encodable, request, dropped)
    : encodable;
  const names = kept.flatMap((tool) =>
    tool.type === "function" ? [tool.name] : []
  );
  return {
    kept,
    names,
    toolNames: changedToolNames(
      [...names, ...calledNames(request.turns)],
      can.maxToolName,
    ),
    freeText: freeTextNames({ tools: can.customTools ? kept : [] }),
  };
}

/**
 * The tools that the format can express. Tools of another format are dropped if others remain; if
 * none remain, they are essential and the request is refused.
 *
 * @throws {ApiError} `invalid_request` if the only tools, or the chosen tool, belong to another
 * format
 */
function encodableTools(
  request: GenerationRequest,
  format: OpaqueTool["from"],
  can: Capabilities,
  dropped: DroppedFields,
): readonly (FunctionTool | OpaqueTool)[] {
  const kept: (FunctionTool | OpaqueTool)[] = [];
  const foreign: OpaqueTool[] = [];
  for (const tool of request.tools ?? []) {
    if (
      tool.type === "opaque" && tool.from !== format &&
      translatedSearch(tool, format, can) === undefined
    ) foreign.push(tool);
    else kept.push(tool);
  }
  const first = foreign[0];
  if (first === undefined) return kept;
  const refusalText = (tool: OpaqueTool): string =>
    `a tool of type "${tool.kind}" cannot be offered to this model`;
  if (kept.length === 0) throw invalidField(first.path, refusalText(first));
  const choice = request.toolChoice;
  const chosen = choice?.type === "tool" &&
      !kept.some((tool) => tool.name === choice.name)
    ? foreign.find((tool) => tool.name === choice.name)
    : undefined;
  if (chosen !== undefined) {
    throw dropped.refusal("toolChoice", refusalText(chosen));
  }
  for (const tool of foreign) dropped.path(droppedToolPath(tool));
  return kept;
}

/**
 * The fields `tools`, `tool_choice` and `parallel_tool_calls`. They are sent together or not at
 * all: upstreams answer a choice without tools with 400.
 */
export function toolFields(
  request: GenerationRequest,
  tools: readonly JsonObject[],
  can: Capabilities,
  dropped: DroppedFields,
  encodeChoice: (choice: ToolChoice, can: Capabilities) => unknown,
): JsonObject {
  const choice = request.toolChoice;
  if (tools.length === 0) {
    const isLost = choice !== undefined && choice.type !== "auto" &&
      choice.type !== "none";
    if (isLost) dropped.field("toolChoice");
    return {};
  }
  const single = request.parallelTools === false;
  if (single && !can.parallelToggle) dropped.field("parallelTools");
  return compact({
    tools,
    tool_choice: choice === undefined ? undefined : encodeChoice(choice, can),
    parallel_tool_calls: single && can.parallelToggle ? false : undefined,
  });
}
