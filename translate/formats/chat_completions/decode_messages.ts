/**
 * Decodes a client's messages into the opening system prompt and neutral turns. Each message
 * becomes one turn; an encoder merges turns if its format requires it.
 */
import type { UnknownObject } from "../../model/schema.ts";
import { instructions } from "../../families/chat/content.ts";
import { textIn } from "../../bytes/json.ts";
import { freeTextArguments } from "../../turns/free_text.ts";
import type {
  CacheMark,
  OpaquePart,
  Part,
  ResultPart,
  TextPart,
  ToolCallPart,
  Turn,
} from "../../model/request.ts";
import { withMark } from "../../turns/cache_marks.ts";
import { carriedSignature } from "../../turns/carried_signature.ts";
import { allDetails } from "./signatures.ts";
import { decodeContent, type DecodedPart } from "./decode_content.ts";
import { readReasoning, withReasoning } from "./decode_reasoning.ts";
import {
  asJson,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { type ChatMessage, type ChatToolCall, isKnownCall } from "./wire.ts";
import { type Steps, visitEach } from "../../steps.ts";

/** The decoded messages. */
interface Conversation {
  readonly system: readonly TextPart[];
  /** One turn for each message after the leading system and developer messages. */
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
/** Clients that assemble a message from a stream leave `index` in the call. */
const CALL_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "index",
  "function",
  "custom",
]);
const CALLED_FIELDS: ReadonlySet<string> = new Set(["name", "arguments"]);
const CUSTOM_FIELDS: ReadonlySet<string> = new Set(["name", "input"]);

/**
 * Decodes the messages.
 *
 * @param cacheOptions `prompt_cache_options` of the request
 * @throws {ApiError} `invalid_request` naming the malformed field
 */
export function* decodeMessages(
  messages: readonly ChatMessage[],
  cacheOptions: unknown,
  unknown: UnknownFields,
): Steps<Conversation> {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  /**
   * Generated ids of deprecated `function_call`s by function name, since a `function` message
   * names only the function.
   */
  const oldCalls = new Map<string, string>();
  const contentOf = (
    content: ChatMessage["content"],
    path: string,
  ): readonly DecodedPart[] =>
    decodeContent(content, `${path}.content`, cacheOptions, unknown);
  yield* visitEach(messages, (message, index) => {
    const path = `messages[${index}]`;
    const known = MESSAGE_FIELDS[message.role];
    noteUnknown(
      message,
      allDetails(message) === undefined &&
        carriedSignature(message) === undefined
        ? known
        : new Set([...known, "extra_content"]),
      "messages[].",
      unknown,
    );
    switch (message.role) {
      case "system":
      case "developer": {
        const texts = instructions(
          contentOf(message.content, path),
          path,
          unknown,
        );
        if (turns.length > 0) turns.push({ role: "system", parts: texts });
        else for (const text of texts) system.push(text);
        break;
      }
      case "user":
        turns.push({
          role: "user",
          parts: contentOf(message.content, path),
        });
        break;
      case "assistant": {
        const parts = assistantParts(
          message,
          contentOf(message.content, path),
          path,
          unknown,
        );
        if (message.function_call) {
          const id = `call_${index}`;
          oldCalls.set(message.function_call.name, id);
          parts.push({
            type: "tool_call",
            id,
            name: message.function_call.name,
            arguments: message.function_call.arguments,
            at: `${path}.function_call`,
          });
        }
        turns.push({ role: "assistant", parts });
        break;
      }
      case "tool":
        turns.push(toolResult(
          message.tool_call_id,
          contentOf(message.content, path),
          `${path}.tool_call_id`,
        ));
        break;
      case "function":
        turns.push(toolResult(
          oldCalls.get(message.name) ?? `call_${index}`,
          contentOf(message.content, path),
          `${path}.name`,
        ));
        break;
    }
  });
  return { system, turns };
}

function assistantParts(
  message: AssistantMessage,
  content: readonly DecodedPart[],
  path: string,
  unknown: UnknownFields,
): Part[] {
  const calls = (message.tool_calls ?? []).map((call, index) =>
    toolCall(call, `${path}.tool_calls[${index}]`, unknown)
  );
  const parts: Part[] = [];
  const refusal = textIn(message.refusal);
  if (refusal !== undefined) parts.push({ type: "refusal", text: refusal });
  if (message.audio) {
    parts.push(opaque("audio", `${path}.audio`, message.audio));
  }
  const arranged = withReasoning(
    readReasoning(message, unknown),
    [...content, ...parts],
    calls,
  );
  if (arranged === undefined) {
    unknown.optional.add("messages[].reasoning_details");
  }
  return signedText(arranged ?? [...content, ...parts, ...calls], message);
}

/** The parts with the message's signature on the last text, which may be empty. */
function signedText(parts: Part[], message: AssistantMessage): Part[] {
  const signature = carriedSignature(message);
  if (signature === undefined) return parts;
  const at = parts.findLastIndex(({ type }) => type === "text");
  const text = parts[at];
  return text?.type === "text"
    ? parts.with(at, { ...text, signature })
    : [{ type: "text", text: "", signature }, ...parts];
}

function toolCall(
  call: ChatToolCall | UnknownObject,
  path: string,
  unknown: UnknownFields,
): ToolCallPart | OpaquePart {
  if (!isKnownCall(call)) return opaque(call.type, path, call);
  if (call.type === "custom") return customCall(call, path, unknown);
  const signature = carriedSignature(call);
  noteUnknown(
    call,
    signature === undefined
      ? CALL_FIELDS
      : new Set([...CALL_FIELDS, "extra_content"]),
    "messages[].tool_calls[].",
    unknown,
  );
  noteUnknown(
    call.function,
    CALLED_FIELDS,
    "messages[].tool_calls[].function.",
    unknown,
  );
  return {
    type: "tool_call",
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
    ...(signature === undefined ? {} : { signature }),
    at: `${path}.id`,
  };
}

function customCall(
  call: ChatToolCall & { readonly type: "custom" },
  path: string,
  unknown: UnknownFields,
): ToolCallPart {
  noteUnknown(call, CALL_FIELDS, "messages[].tool_calls[].", unknown);
  noteUnknown(
    call.custom,
    CUSTOM_FIELDS,
    "messages[].tool_calls[].custom.",
    unknown,
  );
  return {
    type: "tool_call",
    id: call.id,
    name: call.custom.name,
    arguments: freeTextArguments(call.custom.input),
    freeText: true,
    at: `${path}.id`,
  };
}

function toolResult(
  id: string,
  content: readonly DecodedPart[],
  at: string,
): Turn {
  const parts: ResultPart[] = [];
  /** A result is marked as a whole. */
  let cacheMark: CacheMark | undefined;
  for (const part of content) {
    if ("cacheMark" in part) cacheMark = part.cacheMark ?? cacheMark;
    // A neutral tool result cannot hold reasoning or a refusal; their text is kept.
    if (part.type === "reasoning" || part.type === "refusal") {
      parts.push({ type: "text", text: part.text });
    } else parts.push(withMark(part));
  }
  return {
    role: "user",
    parts: [{
      type: "tool_result",
      id,
      content: parts,
      ...(cacheMark === undefined ? {} : { cacheMark }),
      at,
    }],
  };
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
