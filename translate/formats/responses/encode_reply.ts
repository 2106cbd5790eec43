/**
 * Encodes events as a whole reply: the reply that a stream of the same events would end with.
 */
import type { EncodeContext } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { foldReply, kindsOf, type ReplyEvent } from "../../model/reply.ts";
import { replyWriter } from "./reply_writer.ts";
import { encodeIncomplete } from "./stop_reason.ts";

/**
 * Encodes events as a whole reply.
 *
 * @throws {ApiError} the error of an `error` event
 */
export function encodeReply(
  events: Iterable<ReplyEvent>,
  context: EncodeContext,
): JsonObject {
  const writer = replyWriter(context, false);
  let isEnded = false;
  for (const event of events) {
    if (event.type === "error") throw event.error;
    isEnded ||= event.type === "end";
    writer.push(event);
  }
  if (!isEnded) writer.push({ type: "end" });
  return writer.reply();
}

/** Adds a status to a whole reply that has none. */
export function withStop(
  body: JsonObject,
  events: readonly ReplyEvent[],
): JsonObject {
  const { blocks, stop } = foldReply(events);
  const reason = encodeIncomplete(stop?.reason ?? "end", kindsOf(blocks));
  return {
    ...body,
    status: reason === null ? "completed" : "incomplete",
    ...(reason === null ? {} : { incomplete_details: { reason } }),
  };
}
