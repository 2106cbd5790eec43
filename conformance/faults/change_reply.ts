/** Builders of hooks that change replies and streams, for the mutants of every area. */
import { changeReplies } from "./change_hooks.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";

/** Members of an object to replace, or how the object changes; undefined removes it. */
export type Change<
  More extends readonly unknown[] = [],
  Result = JsonObject,
> = JsonObject | ((object: JsonObject, ...more: More) => Result);

export function changed<More extends readonly unknown[], Result>(
  object: JsonObject,
  change: Change<More, Result>,
  ...more: More
): JsonObject | Result {
  return typeof change === "function"
    ? change(object, ...more)
    : { ...object, ...change };
}

/** How a fault changes a frame: other data, other frames, or none. */
export type FrameChange = Change<
  [x: Context, frame: OutFrame],
  JsonObject | readonly OutFrame[] | undefined
>;

export function messageReply(change: Change): Hooks {
  return wholeReply("messages", change);
}

export function chatReply(change: Change): Hooks {
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
  change: Change,
): Hooks {
  return changeReplies(
    { endpoint, status: 200 },
    (reply) => ({ body: changed(reply.body, change) }),
  );
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
      const data = changed(frame.data, change, x, frame);
      if (data === undefined) return [];
      return isList(data) ? data : [{ ...frame, data }];
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
