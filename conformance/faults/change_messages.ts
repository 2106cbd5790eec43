/** Builders of faults in replies and streams of the message endpoint. */
import {
  type Change,
  changed,
  type FrameChange,
  messageFrames,
  messageReply,
  withAt,
} from "./change_reply.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import { listAt, textAt } from "../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";

export function block(
  type: string,
  change: Change<[index: number], JsonObject | undefined>,
): Hooks {
  return messageReply((body) => {
    let seen = -1;
    return {
      ...body,
      content: listAt(body, "content").map(objectOf).map((each) =>
        each["type"] === type ? changed(each, change, ++seen) : each
      ).filter((each) => each !== undefined),
    };
  });
}

/** Changes the events of one name in streams. */
export function event(type: string, change: FrameChange): Hooks {
  return messageFrames((data, x, frame) =>
    frame.event === type ? changed(data, change, x, frame) : data
  );
}

/** Puts a value at a path of the events of one name; undefined removes it. */
export function putIn(
  type: string,
  path: string,
  value: Json | undefined,
): Hooks {
  return event(type, (data) => withAt(data, path, value));
}

export function delta(
  type: string,
  change: Change<
    [x: Context, frame: OutFrame],
    JsonObject | readonly OutFrame[] | undefined
  >,
): Hooks {
  return event("content_block_delta", (data, x, frame) => {
    if (textAt(data, "delta.type") !== type) return data;
    const result = changed(objectOf(data["delta"]), change, x, frame);
    if (result === undefined) return undefined;
    return isFrames(result) ? result : { ...data, delta: result };
  });
}

/** Changes the block in content_block_start, for blocks of one type. */
export function opening(type: string, change: Change): Hooks {
  return event(
    "content_block_start",
    (data) =>
      textAt(data, "content_block.type") === type
        ? {
          ...data,
          content_block: changed(objectOf(data["content_block"]), change),
        }
        : data,
  );
}

function isFrames(
  value: JsonObject | readonly OutFrame[],
): value is readonly OutFrame[] {
  return Array.isArray(value);
}

/** UTF-8 text decoded as Latin-1. */
export function asLatin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

export function out(data: JsonObject): OutFrame {
  return { event: textAt(data, "type"), data };
}
