/**
 * Fields of a passed-through request in the form that its host takes. `encode_request.ts` writes
 * the same forms where the request is translated.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { wireCallId } from "../../turns/names.ts";
import { asReminder } from "../../turns/turns.ts";
import { NO_PICTURE } from "./encode_content.ts";
import { ANY_OBJECT } from "./encode_tools.ts";

/** The top-level fields that change. What is lost is added to `dropped` by its path. */
export function hostSettings(
  body: JsonObject,
  can: Capabilities,
  dropped: Set<string>,
): JsonObject {
  const fields: JsonDraft = {};
  const choice = body["tool_choice"];
  if (
    !can.toolChoiceRequired && (choice === "required" || isObject(choice))
  ) {
    fields["tool_choice"] = "auto";
    dropped.add("tool_choice");
  }
  const format = body["response_format"];
  if (isObject(format) && format["type"] === "json_object") {
    if (!can.jsonObject) fields["response_format"] = ANY_OBJECT;
    if (!can.formatBesideTools && arrayOr(body["tools"]).length > 0) {
      fields["response_format"] = undefined;
      dropped.add("response_format");
    }
  }
  if (schemaToWrite(body, can) !== undefined) {
    fields["response_format"] = { type: "json_object" };
    dropped.add("response_format");
  }
  return fields;
}

/** Whether a schema is an instruction: neither it nor a call of a tool can be demanded. */
export function writesSchema(can: Capabilities): boolean {
  return !can.structuredOutput && !can.toolChoiceRequired;
}

/** The instruction that takes the place of a schema. */
export function schemaInstruction(schema: unknown): string {
  return `Answer with one JSON object and nothing else. It must be valid against this JSON schema:\n${
    JSON.stringify(schema)
  }`;
}

function schemaToWrite(body: JsonObject, can: Capabilities): unknown {
  const format = objectOr(body["response_format"]);
  return writesSchema(can) && format["type"] === "json_schema"
    ? objectOr(format["json_schema"])["schema"]
    : undefined;
}

/**
 * The messages in the roles and the order that the host takes, without what it cannot see; the same
 * if it takes them.
 */
export function withHostTurns(
  body: JsonObject,
  messages: readonly unknown[],
  can: Capabilities,
  dropped: Set<string>,
): readonly unknown[] {
  const schema = schemaToWrite(body, can);
  const named = can.developerRole
    ? messages
    : mapChanged(messages, (message) =>
      isObject(message) && message["role"] === "developer"
        ? { ...message, role: "system" }
        : message);
  const placed = can.systemAnywhere ? named : withOneSystem(named);
  const seen = can.images ? placed : withoutPictures(placed, dropped);
  return withBridges(
    schema === undefined
      ? seen
      : withInstruction(seen, schemaInstruction(schema)),
    can,
  );
}

/**
 * The messages with the instructions at the start as one, and later ones as a user's text; the same
 * if there are no others.
 */
function withOneSystem(messages: readonly unknown[]): readonly unknown[] {
  const isSystem = (message: unknown): boolean =>
    objectOr(message)["role"] === "system";
  if (!messages.slice(1).some(isSystem)) return messages;
  const other = messages.findIndex((message) => !isSystem(message));
  const start = other < 0 ? messages : messages.slice(0, other);
  const [first] = start;
  return [
    ...(start.length > 1
      ? [{
        ...objectOr(first),
        content: start.map(textOf).join("\n\n"),
      }]
      : start),
    ...messages.slice(start.length).map((message) =>
      isSystem(message)
        ? { role: "user", content: asReminder(textOf(message)) }
        : message
    ),
  ];
}

/** The text of a message. */
function textOf(message: unknown): string {
  const { content } = objectOr(message);
  return typeof content === "string"
    ? content
    : arrayOr(content).map((part) => textIn(objectOr(part)["text"]) ?? "")
      .join("\n");
}

/** The messages with a note in the place of each picture. */
function withoutPictures(
  messages: readonly unknown[],
  dropped: Set<string>,
): readonly unknown[] {
  return mapChanged(messages, (message) => {
    const { content } = objectOr(message);
    if (!Array.isArray(content)) return message;
    const seen = mapChanged(
      content,
      (part) =>
        objectOr(part)["type"] === "image_url"
          ? { type: "text", text: NO_PICTURE }
          : part,
    );
    if (seen === content) return message;
    dropped.add("messages[].content[].image_url");
    return { ...objectOr(message), content: seen };
  });
}

function mapChanged(
  list: readonly unknown[],
  change: (one: unknown) => unknown,
): readonly unknown[] {
  const changed = list.map(change);
  return changed.some((one, index) => one !== list[index]) ? changed : list;
}

function withInstruction(
  messages: readonly unknown[],
  text: string,
): readonly unknown[] {
  const first = objectOr(messages[0]);
  return first["role"] === "system" && typeof first["content"] === "string"
    ? [
      { ...first, content: `${first["content"]}\n\n${text}` },
      ...messages.slice(1),
    ]
    : [{ role: "system", content: text }, ...messages];
}

/** What the assistant answers to results where another turn may not follow them. */
const BRIDGE: JsonObject = {
  role: "assistant",
  content: "I have the results.",
};

/** The messages with a turn of the assistant after results, where the model demands one. */
export function withBridges<T>(
  messages: readonly T[],
  { userAfterTool }: Capabilities,
): readonly (T | JsonObject)[] {
  if (userAfterTool) return messages;
  const needs = (message: T, next: T | undefined): boolean =>
    next !== undefined && objectOr(message)["role"] === "tool" &&
    !["assistant", "tool"].includes(`${objectOr(next)["role"]}`);
  if (!messages.some((message, n) => needs(message, messages[n + 1]))) {
    return messages;
  }
  return messages.flatMap((message, n) =>
    needs(message, messages[n + 1]) ? [message, BRIDGE] : [message]
  );
}

/** The message with call ids of the form that the host takes; the same if it has them. */
export function withCallIds(message: unknown, can: Capabilities): unknown {
  if (can.callIdForm === "any" || !isObject(message)) return message;
  const wire = (id: string): string =>
    wireCallId(id, can.maxToolCallId, can.callIdForm);
  const { tool_calls: calls, tool_call_id: result } = message;
  if (typeof result === "string" && wire(result) !== result) {
    return { ...message, tool_call_id: wire(result) };
  }
  if (!Array.isArray(calls)) return message;
  let changed = false;
  const named = calls.map((call: unknown) => {
    const id = isObject(call) ? call["id"] : undefined;
    if (!isObject(call) || typeof id !== "string" || wire(id) === id) {
      return call;
    }
    changed = true;
    return { ...call, id: wire(id) };
  });
  return changed ? { ...message, tool_calls: named } : message;
}

/** A turn's text after the reasoning that led to it, in the tags that some models expect. */
export function withThoughts(reasoning: string, text: string): string {
  return reasoning === "" ? text : `<think>${reasoning}</think>${text}`;
}

/** An assistant's message with its reasoning as text of its content; undefined if it has none. */
export function withReasoningTags(message: JsonObject): JsonObject | undefined {
  const { reasoning_content: own, reasoning: other, ...rest } = message;
  const reasoning = own ?? other;
  if (typeof reasoning !== "string") return undefined;
  const { content } = rest;
  return {
    ...rest,
    content: Array.isArray(content)
      ? [{ type: "text", text: withThoughts(reasoning, "") }, ...content]
      : withThoughts(reasoning, typeof content === "string" ? content : ""),
  };
}
