/**
 * Fields of a passed-through request in the form that its host takes. `encode_request.ts` writes
 * the same forms where the request is translated.
 */
import { isObject, type JsonDraft, type JsonObject } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { wireCallId } from "../../turns/names.ts";
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
  if (
    !can.jsonObject && isObject(format) && format["type"] === "json_object"
  ) fields["response_format"] = ANY_OBJECT;
  return fields;
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
