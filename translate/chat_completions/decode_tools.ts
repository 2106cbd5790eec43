/**
 * A caller's tools, old and new form, and the choice among them → neutral words.
 *
 * @module
 */
import { invalidField } from "../error.ts";
import { isObject, objectOr, stringIn } from "../json.ts";
import type { FunctionTool, Tool, ToolChoice } from "../request.ts";
import { asJson, noteUnknown, type Unread } from "./unread.ts";
import {
  type ChatFunction,
  type ChatRequest,
  isKnownChoice,
  isKnownTool,
} from "./wire.ts";

/** The tools and the choice in neutral words. */
export interface ToolSet {
  /** Absent where the caller gave no list. */
  readonly tools?: readonly Tool[];
  /** Absent where the caller left it to the model. */
  readonly toolChoice?: ToolChoice;
  /** True where the old form was used. */
  readonly legacy: boolean;
}

const TOOL_FIELDS: ReadonlySet<string> = new Set(["type", "function"]);
const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parameters",
  "strict",
]);

/**
 * Reads tools and choice.
 *
 * @throws {ApiError} `invalid_request` where both forms are used at once
 */
export function decodeTools(request: ChatRequest, unread: Unread): ToolSet {
  const legacy = Boolean(request.functions) || Boolean(request.function_call);
  if (!legacy) {
    const toolChoice = decodeChoice(request, unread);
    return {
      ...(request.tools
        ? {
          tools: request.tools.map((tool, index) =>
            decodeTool(tool, `tools[${index}]`, unread)
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
          decodeFunction(defined, "functions[].", unread)
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
  unread: Unread,
): Tool {
  if (isKnownTool(tool) && tool.type === "function") {
    noteUnknown(tool, TOOL_FIELDS, "tools[].", unread);
    return decodeFunction(tool.function, "tools[].function.", unread);
  }
  const value = asJson(tool);
  const name = stringIn(objectOr(value["custom"])["name"]) ??
    stringIn(value["name"]);
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
  defined: ChatFunction,
  prefix: string,
  unread: Unread,
): FunctionTool {
  noteUnknown(defined, FUNCTION_FIELDS, prefix, unread);
  const { description, parameters, strict } = defined;
  return {
    type: "function",
    name: defined.name,
    ...(typeof description === "string" ? { description } : {}),
    ...(parameters ? { parameters } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

function decodeChoice(
  request: ChatRequest,
  unread: Unread,
): ToolChoice | undefined {
  const choice = request.tool_choice;
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === "string") {
    // "any" is another vendor's word for it, sent by clients that know several.
    return { type: choice === "any" ? "required" : choice };
  }
  if (!isKnownChoice(choice)) {
    unread.essential.add("tool_choice");
    return undefined;
  }
  switch (choice.type) {
    case "function":
      return { type: "tool", name: choice.function.name };
    case "custom":
      unread.essential.add("tool_choice");
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
