/**
 * Encodes tools, the tool choice and the output format for the Converse format, which has no schema of replies: a forced tool
 * replaces it.
 *
 * @module
 */
import type { JsonObject } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { invalidField } from "../../model/error.ts";
import { changedToolNames, wireToolName } from "../../model/names.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OutputFormat,
} from "../../model/request.ts";
import { calledNames } from "../../model/turns.ts";
import { cachePoint } from "./cache_marks.ts";

/** Records the client's path of a dropped field. */
export type Drop = (path: string) => void;

/** The tool fields of a request. */
export interface EncodedTools {
  /** The `toolConfig` field. */
  readonly toolConfig?: JsonObject;
  /** Name of the tool that replaces structured output. */
  readonly formatTool?: string;
  /** Wire name → the client's name. */
  readonly toolNames: ReadonlyMap<string, string>;
}

const EMPTY_SCHEMA: JsonObject = { type: "object", properties: {} };
const FORMAT_TOOL = "structured_output";

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
  const offered = offeredTools(request, drop);
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
    const formatTool = unusedName([...used, ...offered.map((t) => t.name)]);
    const isFree = offered.length > 0 && mayCall;
    if (!can.toolChoiceRequired) drop(words.format);
    return {
      toolConfig: {
        tools: [...tools, formatToolOf(formatTool, form, request)],
        ...(can.toolChoiceRequired
          ? {
            toolChoice: isFree ? { any: {} } : { tool: { name: formatTool } },
          }
          : {}),
      },
      formatTool,
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

/** The functions, limited to the allowed ones where the choice lists some. */
function offeredTools(
  request: GenerationRequest,
  drop: Drop,
): readonly FunctionTool[] {
  const { toolChoice: choice, fieldNames: words, tools = [] } = request;
  const offered: FunctionTool[] = [];
  for (const tool of tools) {
    if (tool.type === "function") {
      offered.push(tool);
      continue;
    }
    if (choice?.type === "tool" && choice.name === tool.name) {
      throw invalidField(
        words.toolChoice,
        `the tool ${tool.name} is not available with this model`,
      );
    }
    drop(tool.path);
  }
  const [first] = tools;
  if (first?.type === "opaque" && offered.length === 0) {
    throw invalidField(
      first.path,
      `a tool of type "${first.kind}" is not available with this model`,
    );
  }
  if (choice?.type !== "allowed") return offered;
  const allowed = offered.filter(({ name }) => choice.names.includes(name));
  return allowed.length === 0 ? offered : allowed;
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
  { description, parameters = {} }: FunctionTool,
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

/** The format requires an object at the top. */
function objectSchema(schema: JsonObject): JsonObject {
  if (schema["type"] === "object") return schema;
  return Object.keys(schema).length === 0
    ? EMPTY_SCHEMA
    : { ...schema, type: "object" };
}

function formatToolOf(
  name: string,
  form: OutputFormat & { readonly type: "schema" },
  { fieldNames: words }: GenerationRequest,
): JsonObject {
  const type = form.schema["type"];
  if (type !== undefined && type !== "object") {
    throw invalidField(
      words.format,
      "this model can bind its reply to a schema of type object only",
    );
  }
  return toolSpec(name, {
    type: "function",
    name,
    description: form.description ??
      "Give the final answer by calling this tool.",
    parameters: form.schema,
  });
}

function unusedName(taken: readonly string[]): string {
  let name = FORMAT_TOOL;
  while (taken.includes(name)) name += "_";
  return name;
}
