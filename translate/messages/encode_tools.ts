/**
 * Tools, their choice and the form of the reply's text, written for an upstream of the messages format. The three belong together:
 * a model without structured output gets a forced tool in its place.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import { changedToolNames, wireToolName } from "../names.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OutputFormat,
  Tool,
  ToolChoice,
} from "../request.ts";
import { calledNames } from "../turns.ts";
import { strictSchema } from "./strict_schema.ts";

/** Notes a path, in the caller's words, of what cannot be said. */
export type Lose = (path: string) => void;

/** What is written for them. */
export interface WrittenTools {
  /** The `tools` field. */
  readonly tools?: readonly JsonObject[];
  /** The `tool_choice` field. */
  readonly toolChoice?: JsonObject;
  /** The `output_config.format` field. */
  readonly format?: JsonObject;
  /** Name of the tool that stands in for structured output. */
  readonly formatTool?: string;
  /** Wire name → the caller's. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** True where the model must call something. */
  readonly forced: boolean;
}

const EMPTY_SCHEMA: JsonObject = { type: "object", properties: {} };
const FORMAT_TOOL = "structured_output";

/**
 * Writes them.
 *
 * @throws {ApiError} `invalid_request` where nothing but another dialect's tools was offered, or one of them was demanded
 */
export function encodeTools(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): WrittenTools {
  const name = (own: string): string => wireToolName(own, can.maxToolName);
  const used = calledNames(request.turns);
  const offered = offeredTools(request, lose);
  const toolNames = changedToolNames(
    [
      ...used,
      ...offered.flatMap((tool) => tool.type === "function" ? [tool.name] : []),
    ],
    can.maxToolName,
  );
  const written = offered.map((tool) => writtenTool(tool, name, can, lose));
  const choice = offered.length === 0
    ? undefined
    : request.toolChoice ?? { type: "auto" };
  if (offered.length === 0) loseChoice(request, lose);
  const form = request.format?.type === "schema" ? request.format : undefined;
  if (form !== undefined && can.structuredOutput) {
    const format = {
      type: "json_schema",
      schema: can.schema === "strict_subset"
        ? strictSchema(form.schema)
        : form.schema,
    };
    return {
      ...withStubs(written, choice, used, request, can, lose, name),
      format,
      toolNames,
    };
  }
  const callsForSure = choice?.type === "required" || choice?.type === "tool" ||
    (choice?.type === "allowed" && choice.required);
  if (form === undefined || callsForSure) {
    return {
      ...withStubs(written, choice, used, request, can, lose, name),
      toolNames,
    };
  }
  const formatTool = unusedName(offered, used);
  const free = choice !== undefined && choice.type !== "none";
  return {
    tools: [...written, formatToolOf(formatTool, form, request)],
    toolChoice: free
      ? { type: "any", ...parallelSwitch(request, can, lose) }
      : {
        type: "tool",
        name: formatTool,
        ...(can.parallelToggle ? { disable_parallel_tool_use: true } : {}),
      },
    formatTool,
    toolNames,
    forced: true,
  };
}

/** The tools that this dialect can say, cut to the allowed ones where the choice names some. */
function offeredTools(
  request: GenerationRequest,
  lose: Lose,
): readonly Tool[] {
  const { toolChoice: choice, words } = request;
  const all = request.tools ?? [];
  const offered: Tool[] = [];
  for (const tool of all) {
    if (tool.type === "function" || tool.from === "messages") {
      offered.push(tool);
      continue;
    }
    if (choice?.type === "tool" && choice.name === tool.name) {
      throw invalidField(
        words.toolChoice,
        `the tool ${tool.name} is not available with this model`,
      );
    }
    lose(tool.path);
  }
  const first = all[0];
  if (first !== undefined && offered.length === 0) {
    throw invalidField(
      first.type === "opaque" ? first.path : words.tools,
      "tools of this type are not available with this model",
    );
  }
  if (choice?.type !== "allowed") return offered;
  const allowed = offered.filter((tool) =>
    tool.name !== undefined && choice.names.includes(tool.name)
  );
  return allowed.length === 0 ? offered : allowed;
}

function writtenTool(
  tool: Tool,
  name: (own: string) => string,
  can: Capabilities,
  lose: Lose,
): JsonObject {
  if (tool.type === "opaque") return tool.value;
  const strict = tool.strict === true && can.structuredOutput;
  if (tool.strict === true && !strict) lose("tools[].strict");
  const schema = objectSchema(tool);
  return {
    name: name(tool.name),
    ...(tool.description === undefined
      ? {}
      : { description: tool.description }),
    input_schema: strict && can.schema === "strict_subset"
      ? strictSchema(schema)
      : schema,
    ...(strict ? { strict } : {}),
  };
}

/** The dialect demands `type: "object"` at the top. The caller's schema goes by reference where it says so. */
function objectSchema(tool: FunctionTool): JsonObject {
  const { parameters } = tool;
  if (parameters === undefined) return EMPTY_SCHEMA;
  if (parameters["type"] === "object") return parameters;
  return Object.keys(parameters).length === 0
    ? EMPTY_SCHEMA
    : { ...parameters, type: "object" };
}

/** The dialect demands definitions of all tools in the history. Stubs must not be called, so the choice rules them out. */
function withStubs(
  written: readonly JsonObject[],
  choice: ToolChoice | undefined,
  used: readonly string[],
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
  name: (own: string) => string,
): Omit<WrittenTools, "toolNames"> {
  if (choice !== undefined) {
    const toolChoice = writtenChoice(choice, request, can, lose, name);
    return {
      tools: written,
      ...(toolChoice === undefined ? {} : { toolChoice }),
      forced: toolChoice?.["type"] === "any" || toolChoice?.["type"] === "tool",
    };
  }
  if (used.length === 0) return { forced: false };
  return {
    tools: used.map((own) => ({
      name: name(own),
      input_schema: EMPTY_SCHEMA,
    })),
    toolChoice: { type: "none" },
    forced: false,
  };
}

function writtenChoice(
  choice: ToolChoice,
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
  name: (own: string) => string,
): JsonObject | undefined {
  if (choice.type === "none") return { type: "none" };
  const parallel = parallelSwitch(request, can, lose);
  switch (choice.type) {
    case "auto":
      return request.toolChoice === undefined &&
          parallel["disable_parallel_tool_use"] === undefined
        ? undefined
        : { type: "auto", ...parallel };
    case "required":
      return { type: "any", ...parallel };
    case "tool":
      return { type: "tool", name: name(choice.name), ...parallel };
    case "allowed":
      return { type: choice.required ? "any" : "auto", ...parallel };
  }
}

function parallelSwitch(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): JsonObject {
  if (request.parallelTools !== false) return {};
  if (can.parallelToggle) return { disable_parallel_tool_use: true };
  lose(request.words.parallelTools);
  return {};
}

/** Without tools there is nothing to choose from; only a demand is worth a word. */
function loseChoice(request: GenerationRequest, lose: Lose): void {
  const { toolChoice: choice } = request;
  if (choice?.type === "required" || choice?.type === "tool") {
    lose(request.words.toolChoice);
  }
}

function formatToolOf(
  name: string,
  form: OutputFormat & { type: "schema" },
  request: GenerationRequest,
): JsonObject {
  const type = form.schema["type"];
  if (type !== undefined && type !== "object") {
    throw invalidField(
      request.words.format,
      "this model can bind its reply to a schema of type object only",
    );
  }
  return {
    name,
    description: form.description ??
      "Give the final answer by calling this tool.",
    input_schema: type === "object"
      ? form.schema
      : { ...form.schema, type: "object" },
  };
}

function unusedName(
  offered: readonly Tool[],
  used: readonly string[],
): string {
  const taken = new Set([...used, ...offered.map((tool) => tool.name)]);
  let name = FORMAT_TOOL;
  while (taken.has(name)) name += "_";
  return name;
}
