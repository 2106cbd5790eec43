/** Builders of hooks that change replies and streams, for the mutants of every area. */
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";

/** How a fault changes a frame: other data, other frames, or none. */
export type FrameChange = (
  data: JsonObject,
  x: Context,
  frame: OutFrame,
) => JsonObject | readonly OutFrame[] | undefined;

export function messageReply(change: (body: JsonObject) => JsonObject): Hooks {
  return wholeReply("messages", change);
}

export function chatReply(change: (body: JsonObject) => JsonObject): Hooks {
  return wholeReply("chat", change);
}

export function messageFrames(change: FrameChange): Hooks {
  return frames("messages", change);
}

export function chatFrames(change: FrameChange): Hooks {
  return frames("chat", change);
}

/** Changes whole replies of status 200 on an endpoint. */
export function wholeReply(
  endpoint: Context["endpoint"],
  change: (body: JsonObject) => JsonObject,
): Hooks {
  return {
    reply: (reply, x) =>
      x.endpoint === endpoint && reply.status === 200
        ? { ...reply, body: change(reply.body) }
        : reply,
  };
}

/** Changes every frame in the streams of an endpoint; frames that are not JSON stay as they are. */
export function frames(
  endpoint: Context["endpoint"],
  change: FrameChange,
): Hooks {
  return {
    frame: (frame, x) => {
      if (x.endpoint !== endpoint || typeof frame.data === "string") {
        return [frame];
      }
      const changed = change(frame.data, x, frame);
      if (changed === undefined) return [];
      return isList(changed) ? changed : [{ ...frame, data: changed }];
    },
  };
}

function isList(
  value: JsonObject | readonly OutFrame[],
): value is readonly OutFrame[] {
  return Array.isArray(value);
}

/** The object with the value at a path replaced; undefined removes it. */
export function withAt(
  body: JsonObject,
  path: string,
  value: Json | undefined,
): JsonObject {
  const [key = "", ...rest] = path.split(".");
  if (rest.length === 0) return { ...body, [key]: value };
  const inner = body[key];
  if (Array.isArray(inner)) {
    const [index = "0", ...further] = rest;
    return {
      ...body,
      [key]: inner.map((item: Json, at: number) => {
        if (at !== Number(index)) return item;
        return further.length === 0
          ? value ?? null
          : withAt(objectOf(item), further.join("."), value);
      }),
    };
  }
  return {
    ...body,
    [key]: withAt(isObject(inner) ? inner : {}, rest.join("."), value),
  };
}
