/**
 * Rules for tools that hold for upstream formats of the same vendor family: which tools a format
 * can express, and which fields accompany them.
 *
 * @module
 */
import { compact, type JsonObject } from "../bytes/json.ts";
import type { Capabilities } from "./capabilities.ts";
import type { DroppedFields } from "./dropped_fields.ts";
import { invalidField } from "./error.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OpaqueTool,
  ToolChoice,
} from "./request.ts";

/**
 * The tools that the format can express. Tools of another format are dropped if others remain; if
 * none remain, they are essential and the request is refused.
 *
 * @throws {ApiError} `invalid_request` if the only tools, or the chosen tool, belong to another
 * format
 */
export function encodableTools(
  request: GenerationRequest,
  format: OpaqueTool["from"],
  losses: DroppedFields,
): readonly (FunctionTool | OpaqueTool)[] {
  const kept: (FunctionTool | OpaqueTool)[] = [];
  const foreign: OpaqueTool[] = [];
  for (const tool of request.tools ?? []) {
    if (tool.type === "opaque" && tool.from !== format) foreign.push(tool);
    else kept.push(tool);
  }
  const first = foreign[0];
  if (first === undefined) return kept;
  const refused = (tool: OpaqueTool): string =>
    `a tool of type "${tool.kind}" cannot be offered to this model`;
  if (kept.length === 0) throw invalidField(first.path, refused(first));
  const choice = request.toolChoice;
  const chosen = choice?.type === "tool" &&
      !kept.some((tool) => tool.name === choice.name)
    ? foreign.find((tool) => tool.name === choice.name)
    : undefined;
  if (chosen !== undefined) throw losses.refusal("toolChoice", refused(chosen));
  for (const tool of foreign) losses.path(tool.path);
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
  losses: DroppedFields,
  encodeChoice: (choice: ToolChoice, can: Capabilities) => unknown,
): JsonObject {
  const choice = request.toolChoice;
  if (tools.length === 0) {
    const isLost = choice !== undefined && choice.type !== "auto" &&
      choice.type !== "none";
    if (isLost) losses.field("toolChoice");
    return {};
  }
  const single = request.parallelTools === false;
  if (single && !can.parallelToggle) losses.field("parallelTools");
  return compact({
    tools,
    tool_choice: choice === undefined ? undefined : encodeChoice(choice, can),
    parallel_tool_calls: single && can.parallelToggle ? false : undefined,
  });
}
