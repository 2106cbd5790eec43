/**
 * Encodes tools, the tool choice and the output format for an upstream of the messages format. They
 * are in one file because a model without structured output gets a forced tool instead.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { formatTool, offeredTools } from "../../families/messages/tools.ts";
import type { Drop } from "../../families/messages/turns.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { changedToolNames, wireToolName } from "../../turns/names.ts";
import { EMPTY_SCHEMA, objectSchema } from "../../turns/object_schema.ts";
import type {
  GenerationRequest,
  Tool,
  ToolChoice,
} from "../../model/request.ts";
import { calledNames } from "../../turns/called_names.ts";
import { markField } from "./cache_marks.ts";
import { strictSchema } from "./strict_schema.ts";

/** The tool fields of a request. */
interface EncodedTools {
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
  /** The `output_config.format` field. */
  readonly format?: JsonObject;
  /** Name of the tool that replaces structured output. */
  readonly formatTool?: string;
  /** Wire name → the client's name. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** True where the model must call a tool. */
  readonly forced: boolean;
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
  const name = (own: string): string => wireToolName(own, can.maxToolName);
  const used = calledNames(request.turns);
  const offered = offeredTools(request, "messages", drop);
  const toolNames = changedToolNames(
    [
      ...used,
      ...offered.flatMap((tool) => tool.type === "function" ? [tool.name] : []),
    ],
    can.maxToolName,
  );
  const written = offered.map((tool) => writtenTool(tool, name, can, drop));
  const choice = offered.length === 0
    ? undefined
    : request.toolChoice ?? { type: "auto" };
  if (offered.length === 0) dropChoice(request, drop);
  const form = request.format?.type === "schema" ? request.format : undefined;
  if (form !== undefined && can.structuredOutput) {
    const format = {
      type: "json_schema",
      schema: can.schema === "strict_subset"
        ? strictSchema(form.schema)
        : form.schema,
    };
    return {
      ...withStubs(written, choice, used, request, can, drop, name),
      format,
      toolNames,
    };
  }
  const callsForSure = choice?.type === "required" || choice?.type === "tool" ||
    (choice?.type === "allowed" && choice.required);
  if (form === undefined || callsForSure) {
    return {
      ...withStubs(written, choice, used, request, can, drop, name),
      toolNames,
    };
  }
  const tool = formatTool(
    form,
    [...used, ...offered.map(({ name }) => name)],
    request,
  );
  const free = choice !== undefined && choice.type !== "none";
  return {
    tools: [
      ...(written.length > 0 ? written : used.map((own) => stub(name(own)))),
      {
        name: tool.name,
        description: tool.description,
        input_schema: objectSchema(tool.parameters),
      },
    ],
    toolChoice: free
      ? { type: "any", ...parallelSwitch(request, can, drop) }
      : {
        type: "tool",
        name: tool.name,
        ...(can.parallelToggle ? { disable_parallel_tool_use: true } : {}),
      },
    formatTool: tool.name,
    toolNames,
    forced: true,
  };
}

function writtenTool(
  tool: Tool,
  name: (own: string) => string,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  if (tool.type === "opaque") return tool.value;
  const strict = tool.strict === true && can.structuredOutput;
  if (tool.strict === true && !strict) drop("tools[].strict");
  const schema = objectSchema(tool.parameters);
  return {
    name: name(tool.name),
    ...(tool.description === undefined
      ? {}
      : { description: tool.description }),
    input_schema: strict && can.schema === "strict_subset"
      ? strictSchema(schema)
      : schema,
    ...(strict ? { strict } : {}),
    ...markField(tool),
  };
}

/**
 * The dialect requires definitions of all tools in the history. Stubs must not be called, so the
 * tool choice excludes them.
 */
function withStubs(
  written: readonly JsonObject[],
  choice: ToolChoice | undefined,
  used: readonly string[],
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
  name: (own: string) => string,
): Omit<EncodedTools, "toolNames"> {
  if (choice !== undefined) {
    const toolChoice = writtenChoice(choice, request, can, drop, name);
    return {
      tools: written,
      ...(toolChoice === undefined ? {} : { toolChoice }),
      forced: toolChoice?.["type"] === "any" || toolChoice?.["type"] === "tool",
    };
  }
  if (used.length === 0) return { forced: false };
  return {
    tools: used.map((own) => stub(name(own))),
    toolChoice: { type: "none" },
    forced: false,
  };
}

function stub(name: string): JsonObject {
  return { name, input_schema: EMPTY_SCHEMA };
}

function writtenChoice(
  choice: ToolChoice,
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
  name: (own: string) => string,
): JsonObject | undefined {
  if (choice.type === "none") return { type: "none" };
  const parallel = parallelSwitch(request, can, drop);
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
  drop: Drop,
): JsonObject {
  if (request.parallelTools !== false) return {};
  if (can.parallelToggle) return { disable_parallel_tool_use: true };
  drop(request.fieldNames.parallelTools);
  return {};
}

/** Without tools there is nothing to choose; only a required call is reported as dropped. */
function dropChoice(request: GenerationRequest, drop: Drop): void {
  const { toolChoice: choice } = request;
  if (choice?.type === "required" || choice?.type === "tool") {
    drop(request.fieldNames.toolChoice);
  }
}
