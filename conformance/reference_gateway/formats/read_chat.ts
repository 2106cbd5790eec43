/** Reads a request of the chat-completion format. */
import { textAt } from "../../evidence/json_path.ts";
import { formatMembers } from "./format_members.ts";
import {
  arrayOf,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
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
export function readChat(body: JsonObject): ModelRequest {
  if (body["system"] !== undefined) {
    throw invalid("system", "must be the first entry of messages instead");
  }
  if ((body["n"] ?? 1) !== 1) throw invalid("n", "only 1 is possible");
  const model = requiredText(body, "model");
  const entries = requiredMessages(body);
  const isSystem = ({ role }: JsonObject): boolean =>
    role === "system" || role === "developer";
  const tools = optionalList(body, "tools").map(toolOf);
  const stop = body["stop"] ?? [];
  const format = objectOf(body["response_format"]);
  return {
    model,
    stream: optionalFlag(body, "stream") ?? false,
    system: entries.filter(isSystem).map(({ content }) =>
      textOf(content, "messages")
    ).join("\n"),
    turns: merged(
      entries.flatMap((entry, index) =>
        isSystem(entry) ? [] : [turnOf(entry, index)]
      ),
    ),
    maxTokens: optionalCount(body, "max_completion_tokens") ??
      optionalCount(body, "max_tokens"),
    temperature: optionalNumber(body, "temperature", 0, 2),
    topP: optionalNumber(body, "top_p", 0, 1),
    stops: typeof stop === "string" ? [stop] : textList(stop, "stop"),
    tools,
    choice: choiceOf(body["tool_choice"], tools),
    parallel: body["parallel_tool_calls"] !== false,
    usageAsked: objectOf(body["stream_options"])["include_usage"] === true,
    user: textAt(body, "user") || undefined,
    own: {
      ...formatMembers({
        type: format["type"] ?? null,
        ...objectOf(format["json_schema"]),
      }),
      chat_completions: members(body, [
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "response_format",
        "service_tier",
        "logit_bias",
        "metadata",
      ]),
    },
  };
}

function turnOf(entry: JsonObject, index: number): Turn {
  const name = `messages.${index}`;
  const { role, content } = entry;
  if (role === "tool") {
    return {
      role: "user",
      parts: [{
        type: "result",
        id: textAt(entry, "tool_call_id"),
        text: textOf(content, name),
      }],
    };
  }
  if (role !== "user" && role !== "assistant") {
    throw invalid(`${name}.role`, "must be system, user, assistant or tool");
  }
  const calls = arrayOf(entry["tool_calls"]).map(callOf);
  if ((content ?? undefined) === undefined && calls.length === 0) {
    throw invalid(`${name}.content`, "is required");
  }
  const contentParts = Array.isArray(content)
    ? content.map((part: Json) => partOf(objectOf(part), `${name}.content`))
    : [textPart(textOf(content, `${name}.content`))];
  return {
    role,
    parts: [
      ...contentParts.filter((part) =>
        part.type !== "text" || part.text !== ""
      ),
      ...calls,
    ],
  };
}

function partOf(part: JsonObject, name: string): TurnPart {
  if (part["type"] === "text") return textPart(textOf(part["text"], name));
  const url = textAt(part, "image_url.url");
  const [, media, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  if (media !== undefined && data !== undefined) {
    return { type: "image", media, data };
  }
  if (/^https?:/.test(url)) return { type: "image-url", url };
  if (part["type"] === "file") return { type: "kept", block: part };
  throw invalid(name, "contains a part of an unknown type");
}

function callOf(entry: Json): TurnPart {
  const args = parseJson(textAt(entry, "function.arguments") || "{}");
  if (!isObject(args)) {
    throw invalid("messages.tool_calls", "arguments must be a JSON object");
  }
  return {
    type: "call",
    id: textAt(entry, "id"),
    name: textAt(entry, "function.name"),
    args,
  };
}

/** Consecutive turns of one role become one. */
export function merged(turns: readonly Turn[]): Turn[] {
  const all: Turn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role !== turn.role) all.push(turn);
    else {all.splice(-1, 1, {
        role: turn.role,
        parts: [...last.parts, ...turn.parts],
      });}
  }
  return all;
}

function toolOf(entry: Json, index: number): Tool {
  const tool = objectOf(objectOf(entry)["function"]);
  const name = textAt(tool, "name");
  if (name === "") throw invalid(`tools.${index}.function.name`, "is required");
  return {
    name,
    about: textAt(tool, "description") || undefined,
    schema: tool["parameters"] ?? { type: "object", properties: {} },
  };
}

function choiceOf(
  value: Json | undefined,
  tools: readonly Tool[],
): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "auto" || value === "none") return value;
  if (value === "required") return "any";
  const mode = textAt(value, "allowed_tools.mode");
  if (mode !== "") return mode === "required" ? "any" : "auto";
  const name = textAt(value, "function.name");
  if (tools.some((tool) => tool.name === name)) return `tool:${name}`;
  throw invalid("tool_choice", "must be auto, required, none or a function");
}
