/**
 * Decodes a whole reply into the events that a stream would have had.
 */
import type { DecodeContext } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { arrayOr, isObject } from "../../bytes/json.ts";
import { type ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableReply } from "../../model/reply_faults.ts";

/** Decodes a whole reply leniently. An error inside it becomes an `error` event. */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context, "whole");
  // One vendor's OpenAI-compatible endpoint wraps its errors in an array.
  const only = Array.isArray(body) ? body.find(isObject) : body;
  if (!isObject(only)) return unreadable();
  const events = reader.read(only);
  if (events.at(-1)?.type === "error") return events;
  if (arrayOr(only["choices"]).length === 0) return unreadable();
  try {
    return [...events, ...reader.finish()];
  } catch (error) {
    // Only the errors that `finish()` documents; internal errors propagate.
    if (!(error instanceof ApiError)) throw error;
    return [...events, { type: "error", error }];
  }
}

function unreadable(): readonly ReplyEvent[] {
  return [{
    type: "error",
    error: unreadableReply("it holds no choice"),
  }];
}
