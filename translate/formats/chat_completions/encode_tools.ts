/**
 * Encodes neutral tools, tool choice and output format as fields of an upstream request. For a
 * model without structured output, a forced tool replaces the schema, and the reply's decoder
 * receives the name of that tool.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { compact } from "../../bytes/compact.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { wireToolName } from "../../turns/names.ts";
import { objectSchema } from "../../turns/object_schema.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OutputFormat,
  Tool,
  ToolChoice,
} from "../../model/request.ts";
import {
  DEFAULT_SCHEMA_NAME,
  type EncodedTools,
  offeredTools,
  toolFields,
} from "../../families/chat/tools.ts";
import { isStrict } from "../../families/chat/strict_tools.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

/** For a host that takes no `json_object`. */
export const ANY_OBJECT: JsonObject = {
  type: "json_schema",
  json_schema: { name: "response", schema: { type: "object" } },
};

type SchemaFormat = OutputFormat & { readonly type: "schema" };

/**
 * Encodes `tools`, `tool_choice`, `parallel_tool_calls` and `response_format`.
 *
 * @throws {ApiError} `invalid_request` if the only tools, or the chosen tool, belong to another
 * format
 */
export function encodeTools(
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): EncodedTools {
  const { kept, names, toolNames, freeText } = offeredTools(
    request,
    "chat_completions",
    can,
    dropped,
  );
  if (!can.strictTools && kept.some(wantsStrict)) {
    dropped.path(`${request.fieldNames.tools}[].strict`);
  }
  const encodeList = (list: readonly Tool[]): JsonObject[] =>
    list.map((tool) =>
      tool.type === "opaque" ? tool.value : encodeTool(tool, can)
    );
  const tools = encodeList(kept);
  const choiceOf = (choice: ToolChoice): unknown =>
    encodeChoice(choice, freeText, can);
  const { format } = request;
  const takesFormat = can.formatBesideTools || tools.length === 0;
  if (format?.type === "schema" && !(can.structuredOutput && takesFormat)) {
    const taken = new Set(names.map((name) => wireName(name, can)));
    const formatTool = freeName(wireName(schemaName(format), can), taken);
    return {
      fields: addFormatTool(
        request,
        format,
        formatTool,
        encodeList(allowedTools(kept, request.toolChoice)),
        can,
        choiceOf,
      ),
      context: { toolNames, formatTool },
    };
  }
  if (format?.type === "json" && !takesFormat) dropped.field("format");
  const responseFormat = format === undefined || !takesFormat
    ? undefined
    : encodeFormat(format, can);
  return {
    fields: compact({
      ...toolFields(
        permittedChoice(request, tools, can, dropped),
        tools,
        can,
        dropped,
        choiceOf,
      ),
      response_format: responseFormat,
    }),
    context: { toolNames },
  };
}

/** The tools that the choice allows; all where it lists none. */
function allowedTools<T extends Tool>(
  tools: readonly T[],
  choice: ToolChoice | undefined,
): readonly T[] {
  if (choice?.type !== "allowed") return tools;
  const allowed = tools.filter(({ name }) =>
    name !== undefined && choice.names.includes(name)
  );
  return allowed.length === 0 ? tools : allowed;
}

function encodeTool(tool: FunctionTool, can: Capabilities): JsonObject {
  const name = wireName(tool.name, can);
  const { freeText } = tool;
  if (freeText !== undefined && can.customTools) {
    const { description, grammar } = freeText;
    return {
      type: "custom",
      custom: compact({
        name,
        description,
        format: grammar === undefined
          ? undefined
          : { type: "grammar", grammar },
      }),
    };
  }
  return {
    type: "function",
    function: compact({
      name,
      description: tool.description,
      parameters: objectSchema(tool.parameters),
      strict: can.strictTools ? tool.strict : undefined,
    }),
  };
}

function wantsStrict(tool: Tool): boolean {
  return tool.type === "function" && tool.strict === true;
}

/** The request with the choice left to the model, where the model cannot be made to call a tool. */
function permittedChoice(
  request: GenerationRequest,
  tools: readonly JsonObject[],
  can: Capabilities,
  dropped: DroppedFields,
): GenerationRequest {
  const { toolChoice: choice } = request;
  if (
    can.toolChoiceRequired || choice === undefined || tools.length === 0 ||
    choice.type === "auto" || choice.type === "none"
  ) return request;
  dropped.field("toolChoice");
  return { ...request, toolChoice: { type: "auto" } };
}

function encodeChoice(
  choice: ToolChoice,
  freeText: ReadonlySet<string>,
  can: Capabilities,
): unknown {
  const namedChoice = (name: string): JsonObject =>
    freeText.has(name)
      ? { type: "custom", custom: { name: wireName(name, can) } }
      : namedFunction(wireName(name, can));
  switch (choice.type) {
    case "auto":
    case "required":
    case "none":
      return choice.type;
    case "tool":
      return namedChoice(choice.name);
    case "allowed":
      return {
        type: "allowed_tools",
        allowed_tools: {
          mode: choice.required ? "required" : "auto",
          tools: choice.names.map(namedChoice),
        },
      };
  }
}

function namedFunction(name: string): JsonObject {
  return { type: "function", function: { name } };
}

function encodeFormat(
  format: OutputFormat,
  can: Capabilities,
): JsonObject | undefined {
  switch (format.type) {
    case "text":
      return undefined;
    case "json":
      return can.jsonObject ? { type: "json_object" } : ANY_OBJECT;
    case "schema":
      return {
        type: "json_schema",
        json_schema: compact({
          name: schemaName(format),
          description: format.description,
          schema: format.schema,
          strict: format.strict ?? isStrict(format.schema),
        }),
      };
  }
}

/**
 * Adds a tool whose arguments are the reply. The model must call it, or any tool if the client
 * left the choice open.
 */
function addFormatTool(
  request: GenerationRequest,
  format: SchemaFormat,
  name: string,
  tools: readonly JsonObject[],
  can: Capabilities,
  encodedChoice: (choice: ToolChoice) => unknown,
): JsonObject {
  const choice = request.toolChoice;
  const alone = tools.length === 0 || choice?.type === "none";
  return compact({
    tools: [...tools, {
      type: "function",
      function: compact({
        name,
        description: format.description ??
          "Gives the answer. Call this when the answer is ready.",
        parameters: format.schema,
        strict: can.strictTools ? format.strict : undefined,
      }),
    }],
    tool_choice: alone
      ? namedFunction(name)
      : choice?.type === "tool"
      ? encodedChoice(choice)
      : "required",
    parallel_tool_calls: can.parallelToggle ? false : undefined,
  });
}

function schemaName(format: SchemaFormat): string {
  return format.name ?? DEFAULT_SCHEMA_NAME;
}

function wireName(name: string, can: Capabilities): string {
  return wireToolName(name, can.maxToolName);
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name}_${n}`;
  return free;
}
