/** Parts of the faults of the area `message_stream`, and faults that several checks share. */
import { event, out, putIn } from "../../faults/change_messages.ts";
import { messageFrames, withAt } from "../../faults/change_reply.ts";
import type { Hooks, OutFrame } from "../../reference_gateway/hooks.ts";
import { numberAt } from "../../evidence/json_path.ts";
import type { JsonObject } from "@model-gateway/replay/json";

/** Changes the text of events on the wire. */
export function wire(change: (text: string) => string): Hooks {
  return {
    wire: (text, { endpoint }) => endpoint === "messages" ? change(text) : text,
  };
}

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
