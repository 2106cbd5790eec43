/** Reads a request of the Responses format, and the names of its tools. */
import { formatMembers } from "./format_members.ts";
import { compact } from "@model-gateway/replay/compact";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import {
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
import { merged } from "./read_chat.ts";
import {
  optionalCount,
  optionalFlag,
  optionalList,
  optionalNumber,
  requiredText,
  textPart,
} from "./read_request.ts";

/** A tool of the client under the name that the upstream calls it by. */
export interface NamedTool extends Tool {
  /** The client's name for it. */
  readonly called: string;
  readonly namespace?: string;
  readonly freeText: boolean;
}

/** Longest name of a tool that every upstream accepts. */
const LONGEST_NAME = 64;

/** Marks the values of `encrypted_content` that hold a signature of the message dialect. */
const SIGNED = "ref:messages:";

/** A signature as clients keep it. */
export function sealed(signature: string): string {
  return SIGNED + signature;
}

/** The tools that a body offers and that an upstream can call, from `tools` and from its items. */
export function toolsIn(body: JsonObject): readonly NamedTool[] {
  const found = [
    ...listAt(body, "tools"),
    ...listAt(body, "input").flatMap((item) =>
      textAt(item, "type") === "additional_tools" ? listAt(item, "tools") : []
    ),
  ].flatMap((tool) => namedTools(objectOf(tool)));
  return found.map((tool, at) =>
    tool.name.length <= LONGEST_NAME
      ? tool
      : { ...tool, name: `${tool.name.slice(0, LONGEST_NAME - 4)}_${at}` }
  );
}

function namedTools(tool: JsonObject, namespace?: string): NamedTool[] {
  const called = textAt(tool, "name");
  if (tool["type"] === "namespace") {
    return listAt(tool, "tools").flatMap((each) =>
      namedTools(objectOf(each), called)
    );
  }
  const freeText = tool["type"] === "custom";
  if (!freeText && tool["type"] !== "function") return [];
  const grammar = textAt(tool, "format.definition");
  const about = [textAt(tool, "description"), grammar].filter(Boolean);
  return [{
    name: namespace === undefined ? called : `${namespace}__${called}`,
    called,
    ...compact({ namespace }),
    freeText,
    about: about.length === 0 ? undefined : about.join("\n"),
    ...(typeof tool["strict"] === "boolean" ? { strict: tool["strict"] } : {}),
    schema: freeText
      ? {
        type: "object",
        properties: { input: { type: "string" } },
        required: ["input"],
      }
      : tool["parameters"] ?? { type: "object", properties: {} },
  }];
}

/**
 * Reads a body whose references to earlier replies are resolved.
 * @throws {Refused} when a field is wrong
 */
export function readResponses(body: JsonObject): ModelRequest {
  const model = requiredText(body, "model");
  for (const name of ["background", "conversation", "prompt"]) {
    if (body[name]) throw invalid(name, "is not possible here");
  }
  const offered = toolsIn(body);
  const all = optionalList(body, "tools");
  if (all.length > 0 && offered.length === 0) {
    throw invalid("tools[0]", "no tool that a client runs is among them");
  }
  const limit = optionalCount(body, "max_output_tokens");
  const turns = turnsIn(body["input"], offered);
  const first = turns.findIndex(({ role }) => role !== "system");
  const opening = turns.slice(0, first < 0 ? turns.length : first);
  const { tools, choice } = chosen(body["tool_choice"] ?? null, offered);
  const format = objectOf(objectOf(body["text"])["format"]);
  return {
    model,
    stream: optionalFlag(body, "stream") ?? false,
    system: [
      textAt(body, "instructions"),
      ...opening.flatMap(({ parts }) =>
        parts.flatMap((part) => part.type === "text" ? [part.text] : [])
      ),
    ].filter(Boolean).join("\n"),
    turns: merged(turns.slice(opening.length)),
    maxTokens: limit,
    temperature: optionalNumber(body, "temperature", 0, 2),
    topP: optionalNumber(body, "top_p", 0, 1),
    stops: [],
    tools,
    choice,
    parallel: body["parallel_tool_calls"] !== false,
    usageAsked: false,
    user: textAt(body, "safety_identifier") || undefined,
    asked: body,
    own: ownMembers(body, format),
  };
}

/** The settings that each upstream has a word of its own for. */
function ownMembers(
  body: JsonObject,
  format: JsonObject,
): ModelRequest["own"] {
  const formats = formatMembers(format);
  const effort = at(body, "reasoning.effort");
  const { presence_penalty, frequency_penalty } = body;
  return {
    messages: formats.messages ?? {},
    chat_completions: {
      ...formats.chat_completions,
      ...compact({
        reasoning_effort: effort,
        verbosity: at(body, "text.verbosity"),
        presence_penalty,
        frequency_penalty,
      }),
    },
    generate_content: {
      ...formats.generate_content,
      ...compact({
        presencePenalty: presence_penalty,
        frequencyPenalty: frequency_penalty,
        thinkingConfig: effort === undefined
          ? undefined
          : { thinkingLevel: effort },
      }),
    },
  };
}

/** The tools that the model may call, and which of them it must call. */
function chosen(
  value: Json,
  tools: readonly NamedTool[],
): Pick<ModelRequest, "tools" | "choice"> {
  if (value === null) return { tools, choice: undefined };
  if (value === "auto" || value === "none") return { tools, choice: value };
  if (value === "required") return { tools, choice: "any" };
  const wanted = (choice: Json): NamedTool => {
    const tool = tools.find(({ called, namespace }) =>
      called === textAt(choice, "name") &&
      (namespace ?? "") === textAt(choice, "namespace")
    );
    if (tool !== undefined) return tool;
    throw invalid("tool_choice", "must name an offered tool");
  };
  if (textAt(value, "type") === "allowed_tools") {
    const { choice } = chosen(textAt(value, "mode") || "auto", tools);
    return { tools: listAt(value, "tools").map(wanted), choice };
  }
  return { tools, choice: `tool:${wanted(value).name}` };
}

function turnsIn(
  input: Json | undefined,
  tools: readonly NamedTool[],
): Turn[] {
  if (typeof input === "string") {
    return [{ role: "user", parts: [textPart(input)] }];
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw invalid("input", "a string or a list of items is required");
  }
  return input.flatMap((item: Json, index) => {
    if (!isObject(item)) throw invalid(`input[${index}]`, "must be an object");
    return turnOf(item, `input[${index}]`, tools);
  });
}

function turnOf(
  item: JsonObject,
  name: string,
  tools: readonly NamedTool[],
): Turn[] {
  const id = textAt(item, "call_id");
  const wire =
    tools.find(({ called, namespace }) =>
      called === item["name"] && (namespace ?? "") === textAt(item, "namespace")
    )?.name ?? textAt(item, "name");
  switch (item["type"] ?? "message") {
    case "message":
      return [messageTurn(item, name)];
    case "function_call": {
      const args = parseJson(textAt(item, "arguments") || "{}");
      if (!isObject(args)) throw invalid(`${name}.arguments`, "must be JSON");
      const part: TurnPart = { type: "call", id, name: wire, args };
      return [{ role: "assistant", parts: [part] }];
    }
    case "custom_tool_call": {
      const args = { input: textAt(item, "input") };
      const part: TurnPart = { type: "call", id, name: wire, args };
      return [{ role: "assistant", parts: [part] }];
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const parts = contentOf(item["output"], `${name}.output`);
      const text = parts.flatMap((part) =>
        part.type === "text" ? [part.text] : []
      ).join("\n");
      const rest = parts.filter(({ type }) => type !== "text");
      return [{ role: "user", parts: [{ type: "result", id, text }, ...rest] }];
    }
    case "reasoning": {
      const value = textAt(item, "encrypted_content");
      if (!value.startsWith(SIGNED)) return [];
      const block = {
        type: "thinking",
        thinking: listAt(item, "summary").map((part) => textAt(part, "text"))
          .join("\n\n"),
        signature: value.slice(SIGNED.length),
      };
      return [{ role: "assistant", parts: [{ type: "kept", block }] }];
    }
    case "additional_tools":
      return [];
  }
  throw invalid(name, `items of the type ${item["type"]} are not possible`);
}

function messageTurn(item: JsonObject, name: string): Turn {
  const parts = contentOf(item["content"], `${name}.content`);
  switch (item["role"]) {
    case "user":
    case "assistant":
      return { role: item["role"], parts };
    case "system":
    case "developer":
      return { role: "system", parts };
  }
  throw invalid(
    `${name}.role`,
    "must be user, assistant, system or developer",
  );
}

function contentOf(content: Json | undefined, name: string): TurnPart[] {
  if (typeof content === "string") return [textPart(content)];
  if (!Array.isArray(content)) {
    throw invalid(name, "a string or a list of parts is required");
  }
  return content.map((part: Json, index) =>
    partOf(objectOf(part), `${name}[${index}]`)
  );
}

function partOf(part: JsonObject, name: string): TurnPart {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return textPart(textAt(part, "text"));
    case "refusal":
      return textPart(textAt(part, "refusal"));
    case "input_image":
    case "input_file": {
      const url = textAt(part, "image_url") || textAt(part, "file_data") ||
        textAt(part, "file_url");
      const [, media, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
      if (media?.startsWith("text/") && data !== undefined) {
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
        return textPart(new TextDecoder().decode(bytes));
      }
      if (media !== undefined && data !== undefined) {
        return { type: "image", media, data };
      }
      if (/^https?:/.test(url)) return { type: "image-url", url };
    }
  }
  throw invalid(name, "is a part that cannot be read here");
}
