/**
 * Encodes tools, the tool choice and the output format for the Converse format, which has no schema
 * of replies: a forced tool replaces it.
 */
import type { JsonObject } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { formatTool, offeredTools } from "../../families/messages/tools.ts";
import type { Drop } from "../../families/messages/turns.ts";
import { changedToolNames, wireToolName } from "../../turns/names.ts";
import { objectSchema } from "../../turns/object_schema.ts";
import type { FunctionTool, GenerationRequest } from "../../model/request.ts";
import { calledNames } from "../../turns/called_names.ts";
import { cachePoint } from "./cache_marks.ts";

/** The tool fields of a request. */
interface EncodedTools {
  readonly toolConfig?: JsonObject;
  /** Name of the tool that replaces structured output. */
  readonly formatTool?: string;
  /** Wire name → the client's name. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/**
 * Encodes tools, choice and output format.
 *
 * @throws {ApiError} `invalid_request` where all tools, or the required one, belong to another
 * dialect
 */
export function encodeTools(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): EncodedTools {
  const { fieldNames: words, toolChoice: choice } = request;
  const name = (own: string): string => wireToolName(own, can.maxToolName);
  const used = calledNames(request.turns);
  const offered = offeredTools(request, "converse", drop).filter((tool) =>
    tool.type === "function"
  );
  const toolNames = changedToolNames(
    [...used, ...offered.map((tool) => tool.name)],
    can.maxToolName,
  );
  if (request.parallelTools === false) drop(words.parallelTools);
  if (offered.some((tool) => tool.strict === true)) drop("tools[].strict");
  const isCalled = choice?.type === "required" || choice?.type === "tool" ||
    (choice?.type === "allowed" && choice.required);
  const form = request.format?.type === "schema" && !isCalled
    ? request.format
    : undefined;
  // The format has no choice of no tool: without the tools, none is called.
  const mayCall = choice?.type !== "none";
  const tools = offered.length > 0 && mayCall
    ? offered.flatMap((
      tool,
    ) => [
      toolSpec(name(tool.name), tool),
      ...cachePoint(tool, "tools", request, can, drop),
    ])
    // A conversation with calls must have tools.
    : used.map((own) => toolSpec(name(own), offeredAs(offered, own)));
  if (!mayCall && used.length > 0 && form === undefined) {
    drop(words.toolChoice);
  }
  if (offered.length === 0 && isCalled) drop(words.toolChoice);
  if (form !== undefined) {
    const tool = formatTool(
      form,
      [...used, ...offered.map(({ name }) => name)],
      request,
    );
    const isFree = offered.length > 0 && mayCall;
    if (!can.toolChoiceRequired) drop(words.format);
    return {
      toolConfig: {
        tools: [...tools, toolSpec(tool.name, tool)],
        ...(can.toolChoiceRequired
          ? {
            toolChoice: isFree ? { any: {} } : { tool: { name: tool.name } },
          }
          : {}),
      },
      formatTool: tool.name,
      toolNames,
    };
  }
  if (tools.length === 0) return { toolNames };
  const isFree = isCalled && !can.toolChoiceRequired;
  if (isFree) drop(words.toolChoice);
  const toolChoice = offered.length === 0 || !isCalled || isFree
    ? undefined
    : choice.type === "tool"
    ? { tool: { name: name(choice.name) } }
    : { any: {} };
  return {
    toolConfig: {
      tools,
      ...(toolChoice === undefined ? {} : { toolChoice }),
    },
    toolNames,
  };
}

function offeredAs(
  offered: readonly FunctionTool[],
  name: string,
): FunctionTool {
  return offered.find((tool) => tool.name === name) ??
    { type: "function", name };
}

function toolSpec(
  name: string,
  { description, parameters }: FunctionTool,
): JsonObject {
  return {
    toolSpec: {
      name,
      // The format refuses an empty one.
      ...(description === undefined || description === ""
        ? {}
        : { description }),
      inputSchema: { json: objectSchema(parameters) },
    },
  };
}
