/**
 * A caller's messages → the opening system prompt and neutral turns. Each message becomes one turn; encoders merge where their
 * dialect demands it.
 *
 * @module
 */
import { textIn } from "../json.ts";
import type {
  OpaquePart,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  Turn,
} from "../request.ts";
import { readCallSignature, readDetails } from "./carriers.ts";
import { type ContentPart, decodeContent } from "./decode_parts.ts";
import { asJson, noteUnknown, type Unread } from "./unread.ts";
import {
  type ChatMessage,
  type ChatToolCall,
  type ChatUnknown,
  isKnownCall,
} from "./wire.ts";

/** The messages in neutral words. */
export interface Conversation {
  /** Of the leading system and developer messages. */
  readonly system: readonly TextPart[];
  /** One per message after those. */
  readonly turns: readonly Turn[];
}

type AssistantMessage = ChatMessage & { readonly role: "assistant" };

const MESSAGE_FIELDS: Readonly<
  Record<ChatMessage["role"], ReadonlySet<string>>
> = {
  system: new Set(["role", "content"]),
  developer: new Set(["role", "content"]),
  user: new Set(["role", "content"]),
  assistant: new Set([
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "audio",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
  ]),
  tool: new Set(["role", "content", "tool_call_id"]),
  function: new Set(["role", "content", "name"]),
};
/** `index` is what stays of a call that a client put together from a stream. */
const CALL_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "index",
  "function",
  "custom",
]);
const CALLED_FIELDS: ReadonlySet<string> = new Set(["name", "arguments"]);

/**
 * Reads the messages.
 *
 * @throws {ApiError} `invalid_request` naming a field that cannot be read
 */
export function decodeMessages(
  messages: readonly ChatMessage[],
  unread: Unread,
): Conversation {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  /** Ids made for calls of the old form, by function name: its results tell only the name. */
  const oldCalls = new Map<string, string>();
  messages.forEach((message, index) => {
    const path = `messages[${index}]`;
    noteUnknown(message, MESSAGE_FIELDS[message.role], "messages[].", unread);
    switch (message.role) {
      case "system":
      case "developer": {
        const texts = instructions(message.content, path, unread);
        if (turns.length > 0) turns.push({ role: "system", parts: texts });
        else for (const text of texts) system.push(text);
        break;
      }
      case "user":
        turns.push({
          role: "user",
          parts: decodeContent(message.content, `${path}.content`, unread),
        });
        break;
      case "assistant": {
        const parts = assistantParts(message, path, unread);
        if (message.function_call) {
          const id = `call_${index}`;
          oldCalls.set(message.function_call.name, id);
          parts.push({
            type: "tool_call",
            id,
            name: message.function_call.name,
            arguments: message.function_call.arguments,
          });
        }
        turns.push({ role: "assistant", parts });
        break;
      }
      case "tool":
        turns.push(toolResult(
          message.tool_call_id,
          decodeContent(message.content, `${path}.content`, unread),
        ));
        break;
      case "function":
        turns.push(toolResult(
          oldCalls.get(message.name) ?? `call_${index}`,
          decodeContent(message.content, `${path}.content`, unread),
        ));
        break;
    }
  });
  return { system, turns };
}

/** Instructions are text; anything else in them is a demand that no other dialect can meet. */
function instructions(
  content: (ChatMessage & { readonly role: "system" | "developer" })["content"],
  path: string,
  unread: Unread,
): readonly TextPart[] {
  const texts: TextPart[] = [];
  decodeContent(content, `${path}.content`, unread).forEach((part, index) => {
    if (part.type === "text") texts.push(part);
    else unread.essential.add(`${path}.content[${index}]`);
  });
  return texts;
}

function assistantParts(
  message: AssistantMessage,
  path: string,
  unread: Unread,
): Part[] {
  const parts: Part[] = [
    ...reasoning(message, unread),
    ...decodeContent(message.content, `${path}.content`, unread),
  ];
  const refusal = textIn(message.refusal);
  if (refusal !== undefined) parts.push({ type: "refusal", text: refusal });
  if (message.audio) {
    parts.push(opaque("audio", `${path}.audio`, message.audio));
  }
  message.tool_calls?.forEach((call, index) => {
    parts.push(toolCall(call, `${path}.tool_calls[${index}]`, unread));
  });
  return parts;
}

/** Signed reasoning tells its blocks apart, so it wins over the plain text of the same thoughts. */
function reasoning(
  message: AssistantMessage,
  unread: Unread,
): readonly ReasoningPart[] {
  const details = readDetails(message.reasoning_details);
  const plain = textIn(message.reasoning_content) ?? textIn(message.reasoning);
  const signed = details.some((detail) => detail.signature !== undefined);
  if (!signed) {
    if (details.length > 0 && plain === undefined) {
      unread.unmapped.add("messages[].reasoning_details");
    }
    return plain === undefined ? [] : [{ type: "reasoning", text: plain }];
  }
  const blocks: { texts: string[]; last: typeof details[number] }[] = [];
  for (const detail of details) {
    const block = blocks.at(-1);
    const more = block !== undefined && detail.index !== undefined &&
      detail.index === block.last.index && block.last.signature === undefined &&
      detail.signature?.redacted !== true;
    if (more) {
      block.texts.push(detail.text);
      block.last = detail;
    } else blocks.push({ texts: [detail.text], last: detail });
  }
  return blocks.map(({ texts, last }) => ({
    type: "reasoning",
    text: texts.join(""),
    ...(last.signature === undefined ? {} : { signature: last.signature }),
  }));
}

function toolCall(
  call: ChatToolCall | ChatUnknown,
  path: string,
  unread: Unread,
): ToolCallPart | OpaquePart {
  if (!isKnownCall(call)) return opaque(call.type, path, call);
  if (call.type === "custom") return opaque("custom", path, call);
  const signature = readCallSignature(call.extra_content);
  noteUnknown(
    call,
    signature === undefined
      ? CALL_FIELDS
      : new Set([...CALL_FIELDS, "extra_content"]),
    "messages[].tool_calls[].",
    unread,
  );
  noteUnknown(
    call.function,
    CALLED_FIELDS,
    "messages[].tool_calls[].function.",
    unread,
  );
  return {
    type: "tool_call",
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
    ...(signature === undefined ? {} : { signature }),
  };
}

function toolResult(id: string, content: readonly ContentPart[]): Turn {
  const parts: ResultPart[] = [];
  for (const part of content) {
    // Neither stands in a tool's result; what the tool meant by them is their text.
    if (part.type === "reasoning" || part.type === "refusal") {
      parts.push({ type: "text", text: part.text });
    } else parts.push(part);
  }
  return { role: "user", parts: [{ type: "tool_result", id, content: parts }] };
}

function opaque(kind: string, path: string, value: object): OpaquePart {
  return {
    type: "opaque",
    from: "chat_completions",
    kind,
    path,
    value: asJson(value),
    essential: true,
  };
}
