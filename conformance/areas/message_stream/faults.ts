/** What the faults of the area `message_stream` are built from, and those that several checks have. */
import {
  delta,
  event,
  out,
  putIn,
} from "../../reference_gateway/change_messages.ts";
import { messageFrames, withAt } from "../../reference_gateway/change_reply.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import { numberAt, textAt } from "../../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";

/** Changes the text of events on the wire. */
export function wire(change: (text: string) => string): Hooks {
  return {
    wire: (text, { endpoint }) => endpoint === "messages" ? change(text) : text,
  };
}

/** A mutant that changes the text of text deltas; undefined removes the delta. */
export function changeText(
  change: (text: string, x: Context) => string | undefined,
): Hooks {
  return delta("text_delta", (each, x) => {
    const text = change(textAt(each, "text"), x);
    return text === undefined ? undefined : { ...each, text };
  });
}

/** A mutant that changes message_delta. */
function final(
  change: (data: JsonObject) => JsonObject,
): Hooks {
  return event("message_delta", change);
}

/** A mutant that replaces one stop reason by another. */
export function stopped(
  reason: string,
  change: Readonly<Record<string, Json>>,
): Hooks {
  return final((data) => {
    const before = textAt(data, "delta.stop_reason");
    return before === reason
      ? { ...data, delta: { stop_reason: before, ...change } }
      : data;
  });
}

/** A mutant that changes a count of the final usage. */
export function counted(
  field: string,
  change: (count: number) => number,
): Hooks {
  return final((data) => {
    const count = numberAt(data, `usage.${field}`) ?? 0;
    return withAt(data, `usage.${field}`, change(count));
  });
}

/** Number of this call within an exchange, from 1. */
export function nth({ state }: Context, name: string): number {
  const count = Number(state.get(name) ?? 0) + 1;
  state.set(name, count);
  return count;
}

/** Whitespace around deltas is lost. */
export const messageDeltaTrimmed: Hooks = changeText((text) => text.trim());

/** Thinking has no signature. */
export const messageStreamSignatureLost: Hooks = delta(
  "signature_delta",
  () => undefined,
);

/** A reply with a call has the stop reason of plain text. */
export const messageStreamToolStopAsEnd: Hooks = stopped("tool_use", {
  stop_reason: "end_turn",
});

/** The final output is the count of the start. */
export const messageStreamOutput1: Hooks = counted("output_tokens", () => 1);

/** Changes message_delta of streams without any block. */
export function withoutContent(
  change: (frame: OutFrame) => readonly OutFrame[],
): Hooks {
  return messageFrames((data, { state }, frame) => {
    if (frame.event === "content_block_start") state.set("content", true);
    return frame.event === "message_delta" && !state.has("content")
      ? change(frame)
      : data;
  });
}

export const PING = out({ type: "ping" });

/** A mutant that changes the index of one event. */
export function index(
  type: string,
  change: (index: number) => JsonObject["index"],
): Hooks {
  return event(
    type,
    (data) => ({ ...data, index: change(numberAt(data, "index") ?? 0) }),
  );
}

/** A mutant that changes a member of the message in message_start; undefined removes it. */
export function start(
  path: string,
  value: Parameters<typeof withAt>[2],
): Hooks {
  return putIn("message_start", `message.${path}`, value);
}
