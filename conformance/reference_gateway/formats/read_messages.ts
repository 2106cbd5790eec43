/** Reads a request of the message format. */
import { textAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  invalid,
  type ModelRequest,
  type Tool,
  type Turn,
  type TurnPart,
} from "../part.ts";
import {
  members,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalNumber,
  optionalObject,
  requiredMessages,
  requiredText,
  textList,
  textOf,
  textPart,
} from "./read_request.ts";

/**
 * Reads a body.
 * @throws {Refused} when a field is wrong
 */
export function readMessages(body: JsonObject): ModelRequest {
  const model = requiredText(body, "model");
  const turns = requiredMessages(body).map(turnOf);
  const maxTokens = optionalCount(body, "max_tokens");
  if (maxTokens === undefined) {
    throw invalid("max_tokens", "a whole number is required");
  }
  const temperature = optionalNumber(body, "temperature", 0, 1);
  const topP = optionalNumber(body, "top_p", 0, 1);
  if (temperature !== undefined && topP !== undefined) {
    throw invalid("top_p", "cannot be used together with temperature");
  }
  const tools = optionalList(body, "tools").map(toolOf);
  const choice = choiceOf(body["tool_choice"], tools);
  return {
    model,
    stream: optionalFlag(body, "stream") ?? false,
    system: textOf(body["system"], "system"),
    turns,
    maxTokens,
    temperature,
    topP,
    stops: textList(body["stop_sequences"] ?? [], "stop_sequences"),
    tools,
    choice,
    parallel:
      objectOf(body["tool_choice"])["disable_parallel_tool_use"] !== true,
    usageAsked: false,
    user: textAt(optionalObject(body, "metadata"), "user_id") || undefined,
    own: { messages: members(body, ["top_k", "service_tier"]) },
  };
}

function turnOf(entry: JsonObject, index: number): Turn {
  const { role, content } = entry;
  const name = `messages.${index}`;
  if (role !== "user" && role !== "assistant") {
    throw invalid(`${name}.role`, "must be user or assistant");
  }
  if (typeof content === "string") return { role, parts: [textPart(content)] };
  if (!Array.isArray(content)) {
    throw invalid(`${name}.content`, "a string or an array is required");
  }
  return {
    role,
    parts: content.map((block: Json) =>
      partOf(objectOf(block), `${name}.content`)
    ),
  };
}

function partOf(block: JsonObject, name: string): TurnPart {
  switch (block["type"]) {
    case "text":
      return {
        ...textPart(textOf(block["text"], name)),
        ...(isObject(block["cache_control"])
          ? { cached: block["cache_control"] }
          : {}),
      };
    case "image":
      if (textAt(block, "source.type") === "url") {
        return { type: "image-url", url: textAt(block, "source.url") };
      }
      return {
        type: "image",
        media: textAt(block, "source.media_type"),
        data: textAt(block, "source.data"),
      };
    case "tool_use":
      return {
        type: "call",
        id: textAt(block, "id"),
        name: textAt(block, "name"),
        args: objectOf(block["input"]),
      };
    case "tool_result":
      return {
        type: "result",
        id: textAt(block, "tool_use_id"),
        text: textOf(withoutImages(block["content"]), name),
        failed: block["is_error"] === true,
      };
    case "document":
    case "thinking":
    case "redacted_thinking":
      return { type: "kept", block };
  }
  throw invalid(name, "contains a block of an unknown type");
}

function withoutImages(content: Json | undefined): Json | undefined {
  return Array.isArray(content)
    ? content.filter((block) => textAt(block, "type") !== "image")
    : content;
}

function toolOf(entry: Json, index: number): Tool {
  const tool = objectOf(entry);
  const name = `tools.${index}`;
  if (!isObject(tool["input_schema"])) {
    throw invalid(`${name}.input_schema`, "an object is required");
  }
  return {
    name: requiredText(tool, "name"),
    about: textAt(tool, "description") || undefined,
    schema: tool["input_schema"],
  };
}

function choiceOf(
  value: Json | undefined,
  tools: readonly Tool[],
): string | undefined {
  if (value === undefined || value === null) return undefined;
  const { type, name } = objectOf(value);
  if (type === "auto" || type === "any" || type === "none") return type;
  if (type === "tool" && tools.some((tool) => tool.name === name)) {
    return `tool:${name}`;
  }
  throw invalid("tool_choice", "must be auto, any, none or a tool on offer");
}
