/** Mutants for the checks of the area `tools`: calls in replies. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";

/** Changes the tool_use blocks of whole messages. */
export function messageBlock(
  change: (block: JsonObject, index: number) => JsonObject | undefined,
): Hooks {
  return wholeReply("messages", (body) => ({
    ...body,
    content: listAt(body, "content").map(objectOf).flatMap((block, index) => {
      if (block["type"] !== "tool_use") return [block];
      const changed = change(block, index);
      return changed === undefined ? [] : [changed];
    }),
  }));
}

/** Changes the starts of tool_use blocks in message streams. */
export function messageStart(change: (block: JsonObject) => JsonObject): Hooks {
  return frames(
    "messages",
    (data) =>
      at(data, "content_block.type") === "tool_use"
        ? withAt(data, "content_block", change(objectOf(data["content_block"])))
        : data,
  );
}

/** Changes the fragments of inputs in message streams. */
export function messageDelta(
  change: (delta: JsonObject, x: Context) => JsonObject | undefined,
): Hooks {
  return frames("messages", (data, x) => {
    if (at(data, "delta.type") !== "input_json_delta") return data;
    const changed = change(objectOf(data["delta"]), x);
    return changed === undefined ? undefined : { ...data, delta: changed };
  });
}

/** Changes the fragments of arguments as they come from the upstream. */
export function args(change: (text: string, x: Context) => string): Hooks {
  return {
    part: (part, x) =>
      part.type === "args" ? [{ ...part, text: change(part.text, x) }] : [part],
  };
}

/** A whole reply and a stream with another stop cause. */
export function stops(
  endpoint: "messages" | "chat",
  path: string,
  to: string,
  stream: boolean,
): Hooks {
  const change = (data: JsonObject): JsonObject =>
    ["tool_use", "tool_calls"].includes(textAt(data, path))
      ? withAt(data, path, to)
      : data;
  return stream ? frames(endpoint, change) : wholeReply(endpoint, change);
}

export const FINISH = "choices.0.finish_reason";
