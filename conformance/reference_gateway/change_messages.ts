/** Builders of mutants that change replies and streams of the message endpoint. */
import type { Context, Hooks, OutFrame } from "./hooks.ts";
import { listAt, textAt } from "../evidence/json_path.ts";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import { frames, wholeReply } from "./change_reply.ts";

/** A mutant that changes whole replies. */
export function reply(
  change: (body: JsonObject) => JsonObject,
): Hooks {
  return wholeReply("messages", change);
}

/** A mutant that changes the blocks of one type in whole replies; undefined removes a block. */
export function block(
  type: string,
  change: (block: JsonObject, index: number) => JsonObject | undefined,
): Hooks {
  return reply((body) => {
    let seen = -1;
    return {
      ...body,
      content: listAt(body, "content").map(objectOf).flatMap(
        (each): JsonObject[] => {
          if (each["type"] !== type) return [each];
          const changed = change(each, ++seen);
          return changed === undefined ? [] : [changed];
        },
      ),
    };
  });
}

/** A mutant that changes the events of one name in streams. */
export function event(
  type: string,
  change: (
    data: JsonObject,
    x: Context,
    frame: OutFrame,
  ) => JsonObject | readonly OutFrame[] | undefined,
): Hooks {
  return frames(
    "messages",
    (data, x, frame) => frame.event === type ? change(data, x, frame) : data,
  );
}

/** A mutant that changes the deltas of one type in streams. */
export function delta(
  type: string,
  change: (
    delta: JsonObject,
    x: Context,
    frame: OutFrame,
  ) => JsonObject | readonly OutFrame[] | undefined,
): Hooks {
  return event("content_block_delta", (data, x, frame) => {
    if (textAt(data, "delta.type") !== type) return data;
    const changed = change(objectOf(data["delta"]), x, frame);
    if (changed === undefined) return undefined;
    return isFrames(changed) ? changed : { ...data, delta: changed };
  });
}

/** A mutant that changes the block in content_block_start, for blocks of one type. */
export function opening(
  type: string,
  change: (block: JsonObject) => JsonObject | undefined,
): Hooks {
  return event(
    "content_block_start",
    (data) =>
      textAt(data, "content_block.type") === type
        ? { ...data, content_block: change(objectOf(data["content_block"])) }
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

/** The event for this data. */
export function out(data: JsonObject): OutFrame {
  return { event: textAt(data, "type"), data };
}
