/**
 * Decodes a client's tools and tool choice. Grouped tools and free-text tools become neutral
 * functions, with the names that `tool_names.ts` assigns.
 */
import type { UnknownObject } from "../../model/schema.ts";
import {
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";
import { freeTextTool } from "../../turns/free_text.ts";
import type {
  FunctionTool,
  Grammar,
  Tool,
  ToolChoice,
} from "../../model/request.ts";
import { noteUnknown, type UnknownFields } from "../../model/unknown_fields.ts";
import { calledTool, type ToolNames } from "./tool_names.ts";
import {
  type CustomTool,
  isKnownChoice,
  isKnownItem,
  isKnownTool,
  isMessage,
  type ResponsesRequest,
  type WireFunction,
  type WireTool,
} from "./wire.ts";

/** The decoded tools and tool choice. */
interface ToolSet {
  /** Absent if the client sent no list of tools. */
  readonly tools?: readonly Tool[];
  /** Absent if the client sent no tool choice. */
  readonly toolChoice?: ToolChoice;
}

/**
 * `defer_loading` belongs to tool search, which other formats do not have. They offer all tools
 * at once, so the field is ignored.
 */
const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "parameters",
  "strict",
  "defer_loading",
]);
const GROUP_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "tools",
]);
const CUSTOM_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "format",
  "defer_loading",
]);

/** Decodes the tools of `tools` and of input items, and the tool choice. */
export function decodeTools(
  request: ResponsesRequest,
  names: ToolNames,
  unknown: UnknownFields,
): ToolSet {
  const tools: Tool[] = [];
  const add = (list: readonly (WireTool | UnknownObject)[], path: string) => {
    list.forEach((tool, index) =>
      tools.push(...decodeTool(tool, `${path}[${index}]`, names, unknown))
    );
  };
  add(request.tools ?? [], "tools");
  const declared = [...request.tools ?? []];
  let brought = false;
  if (typeof request.input !== "string") {
    request.input.forEach((item, index) => {
      if (isMessage(item) || !isKnownItem(item)) return;
      if (item.type !== "additional_tools") return;
      brought = true;
      declared.push(...item.tools);
      add(item.tools, `input[${index}].tools`);
    });
  }
  const toolChoice = limitedChoice(
    decodeChoice(request, declared, names, unknown),
    tools,
    unknown,
  );
  return {
    ...(request.tools || brought ? { tools: lastOfEach(tools) } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  };
}

/** A function that is declared again replaces the earlier one: a name must be unique. */
function lastOfEach(tools: readonly Tool[]): readonly Tool[] {
  const byName = new Map<string | Tool, Tool>();
  for (const tool of tools) {
    byName.set(tool.type === "function" ? tool.name : tool, tool);
  }
  return [...byName.values()];
}

/**
 * The choice, unless it allows only tools that no other format can offer: then the model may call
 * none.
 */
function limitedChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  unknown: UnknownFields,
): ToolChoice | undefined {
  if (choice?.type !== "allowed") return choice;
  const isOffered = tools.some((tool) =>
    tool.type === "function" && choice.names.includes(tool.name)
  );
  if (isOffered || tools.length === 0) return choice;
  if (choice.required) unknown.essential.add("tool_choice");
  return { type: "none" };
}

function decodeTool(
  tool: WireTool | UnknownObject,
  path: string,
  names: ToolNames,
  unknown: UnknownFields,
): readonly Tool[] {
  if (!isKnownTool(tool)) return [opaque(tool, path)];
  if (tool.type !== "namespace") {
    return [decodeFunction(tool, undefined, names, unknown)];
  }
  noteUnknown(tool, GROUP_FIELDS, "tools[].", unknown);
  const first = tool.tools.findIndex(isNamed);
  return tool.tools.map((inner, index) => {
    if (!isNamed(inner)) return opaque(inner, `${path}.tools[${index}]`);
    const described = index === first ? withGroup(inner, tool) : inner;
    return decodeFunction(described, tool.name, names, unknown);
  });
}

/** A group's first tool, whose description includes the group's: other formats have no groups. */
function withGroup<T extends WireFunction | CustomTool>(
  tool: T,
  group: WireTool & { readonly type: "namespace" },
): T {
  const about = textIn(group.description);
  if (about === undefined) return tool;
  const own = textIn(tool.description);
  const text = `All tools of ${group.name}: ${about}`;
  return {
    ...tool,
    description: own === undefined ? text : `${own}\n\n${text}`,
  };
}

function isNamed(
  tool: WireFunction | CustomTool | UnknownObject,
): tool is WireFunction | CustomTool {
  return tool.type === "function" || tool.type === "custom";
}

function opaque(tool: UnknownObject, path: string): Tool {
  return {
    type: "opaque",
    from: "responses",
    kind: tool.type,
    name: textIn(tool["name"]) ?? tool.type,
    path,
    value: tool,
  };
}

function decodeFunction(
  tool: WireFunction | CustomTool,
  namespace: string | undefined,
  names: ToolNames,
  unknown: UnknownFields,
): FunctionTool {
  const name = names.nameOf(calledTool(tool.name, namespace, tool.type));
  const description = textIn(tool.description);
  if (tool.type === "custom") {
    noteUnknown(tool, CUSTOM_FIELDS, "tools[].", unknown);
    const format = objectOr(tool.format);
    const grammar = grammarOf(format);
    const isLost = grammar === undefined && tool.format &&
      format["type"] !== "text";
    if (isLost) unknown.optional.add("tools[].format");
    return freeTextTool(name, description, grammar);
  }
  noteUnknown(tool, FUNCTION_FIELDS, "tools[].", unknown);
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    ...(tool.parameters ? { parameters: tool.parameters } : {}),
    ...(typeof tool.strict === "boolean" ? { strict: tool.strict } : {}),
  };
}

/** The grammar of a free-text tool; undefined if any text is allowed. */
function grammarOf(format: JsonObject): Grammar | undefined {
  const definition = textIn(format["definition"]);
  return definition === undefined
    ? undefined
    : { syntax: stringIn(format["syntax"]) ?? "", definition };
}

function decodeChoice(
  request: ResponsesRequest,
  declared: readonly (WireTool | UnknownObject)[],
  names: ToolNames,
  unknown: UnknownFields,
): ToolChoice | undefined {
  const choice = request.tool_choice;
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === "string") return { type: choice };
  if (!isKnownChoice(choice)) {
    // A tool that only vendors of this format run.
    unknown.essential.add("tool_choice");
    return undefined;
  }
  if (choice.type !== "allowed_tools") {
    return {
      type: "tool",
      name: names.nameOf(
        calledTool(choice.name, textIn(choice.namespace), choice.type),
      ),
    };
  }
  return {
    type: "allowed",
    required: choice.mode === "required",
    names: choice.tools.flatMap((tool) => allowedNames(tool, names, declared)),
  };
}

/** The names of the allowed tools. An allowed group allows all of its tools. */
function allowedNames(
  tool: JsonObject,
  names: ToolNames,
  declared: readonly (WireTool | UnknownObject)[],
): readonly string[] {
  const name = textIn(tool["name"]);
  if (name === undefined) return [];
  if (tool["type"] !== "namespace") {
    return [
      names.nameOf(calledTool(name, textIn(tool["namespace"]), tool["type"])),
    ];
  }
  return declared.flatMap((group) =>
    isKnownTool(group) && group.type === "namespace" && group.name === name
      ? group.tools.flatMap((inner) =>
        isNamed(inner)
          ? [names.nameOf(calledTool(inner.name, name, inner.type))]
          : []
      )
      : []
  );
}
