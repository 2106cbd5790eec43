/**
 * Decodes a client's tools, in the current and the deprecated form, and the tool choice.
 */
import type {} from "../../families/chat/wire.ts";
import { invalidField } from "../../model/error.ts";
import { isObject, objectOr, stringIn, textIn } from "../../bytes/json.ts";
import { freeTextTool } from "../../turns/free_text.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../model/request.ts";
import {
  asJson,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import {
  type ChatRequest,
  type FreeTextFields,
  type FunctionFields,
  isKnownChoice,
  isKnownTool,
} from "./wire.ts";

/** The decoded tools and tool choice. */
interface ToolSet {
  /** Absent if the client sent no list of tools. */
  readonly tools?: readonly Tool[];
  /** Absent if the client sent no tool choice. */
  readonly toolChoice?: ToolChoice;
  /** True if the client used the deprecated form. */
  readonly legacy: boolean;
}

const TOOL_FIELDS: ReadonlySet<string> = new Set(["type", "function"]);
const CUSTOM_TOOL_FIELDS: ReadonlySet<string> = new Set(["type", "custom"]);
const CUSTOM_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "format",
]);
const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parameters",
  "strict",
]);

/**
 * Decodes tools and tool choice.
 *
 * @throws {ApiError} `invalid_request` if both forms are used at once
 */
export function decodeTools(
  request: ChatRequest,
  unknown: UnknownFields,
): ToolSet {
  const legacy = Boolean(request.functions) || Boolean(request.function_call);
  if (!legacy) {
    const toolChoice = decodeChoice(request, unknown);
    return {
      ...(request.tools
        ? {
          tools: request.tools.map((tool, index) =>
            decodeTool(tool, `tools[${index}]`, unknown)
          ),
        }
        : {}),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      legacy,
    };
  }
  if (request.tools || request.tool_choice) {
    throw invalidField(
      request.functions ? "functions" : "function_call",
      "cannot be given together with tools or tool_choice",
    );
  }
  const call = request.function_call;
  return {
    ...(request.functions
      ? {
        tools: request.functions.map((defined) =>
          decodeFunction(defined, "functions[].", unknown)
        ),
      }
      : {}),
    ...(call
      ? {
        toolChoice: typeof call === "string"
          ? { type: call }
          : { type: "tool", name: call.name },
      }
      : {}),
    legacy,
  };
}

function decodeTool(
  tool: NonNullable<ChatRequest["tools"]>[number],
  path: string,
  unknown: UnknownFields,
): Tool {
  if (isKnownTool(tool)) {
    if (tool.type === "custom") {
      noteUnknown(tool, CUSTOM_TOOL_FIELDS, "tools[].", unknown);
      return decodeCustom(tool.custom, unknown);
    }
    noteUnknown(tool, TOOL_FIELDS, "tools[].", unknown);
    return decodeFunction(tool.function, "tools[].function.", unknown);
  }
  const value = asJson(tool);
  const name = stringIn(value["name"]);
  return {
    type: "opaque",
    from: "chat_completions",
    kind: tool.type,
    ...(name === undefined ? {} : { name }),
    path,
    value,
  };
}

function decodeFunction(
  defined: FunctionFields,
  prefix: string,
  unknown: UnknownFields,
): FunctionTool {
  noteUnknown(defined, FUNCTION_FIELDS, prefix, unknown);
  const { description, parameters, strict } = defined;
  return {
    type: "function",
    name: defined.name,
    ...(typeof description === "string" ? { description } : {}),
    ...(parameters ? { parameters } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

function decodeCustom(
  custom: FreeTextFields,
  unknown: UnknownFields,
): FunctionTool {
  noteUnknown(custom, CUSTOM_FIELDS, "tools[].custom.", unknown);
  const { definition, syntax } = objectOr(objectOr(custom.format)["grammar"]);
  const grammar = textIn(definition);
  return freeTextTool(
    custom.name,
    textIn(custom.description),
    grammar === undefined
      ? undefined
      : { syntax: stringIn(syntax) ?? "", definition: grammar },
  );
}

/**
 * Tool choices that are a single word. Clients that support several formats send "any", and send
 * a word as the type of an object.
 */
const WORDS: ReadonlyMap<string, ToolChoice> = new Map([
  ["auto", { type: "auto" }],
  ["none", { type: "none" }],
  ["required", { type: "required" }],
  ["any", { type: "required" }],
]);

function namedTool(name: unknown): ToolChoice | undefined {
  const text = textIn(name);
  return text === undefined ? undefined : { type: "tool", name: text };
}

function decodeChoice(
  request: ChatRequest,
  unknown: UnknownFields,
): ToolChoice | undefined {
  const choice = request.tool_choice;
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === "string") return WORDS.get(choice);
  if (!isKnownChoice(choice)) {
    const meant = choice.type === "tool"
      ? namedTool(choice["name"])
      : WORDS.get(choice.type);
    if (meant === undefined) unknown.essential.add("tool_choice");
    return meant;
  }
  switch (choice.type) {
    case undefined:
    case "function":
      return { type: "tool", name: choice.function.name };
    case "custom":
      return { type: "tool", name: choice.custom.name };
    case "allowed_tools":
      return {
        type: "allowed",
        required: choice.allowed_tools.mode === "required",
        names: choice.allowed_tools.tools.flatMap((tool) => {
          const inner = tool["function"] ?? tool["custom"];
          const name = isObject(inner)
            ? stringIn(inner["name"])
            : stringIn(tool["name"]);
          return name === undefined ? [] : [name];
        }),
      };
  }
}
