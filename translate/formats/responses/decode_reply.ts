/**
 * Decodes a whole reply of an upstream into the events that a stream would have sent.
 */
import type { DecodeContext } from "../../dialect.ts";
import { isObject } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableReply } from "../../model/reply_faults.ts";

/** Decodes a whole reply leniently. An error inside it becomes an `error` event. */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  return isObject(body)
    ? reader.whole(body)
    : reader.fail(unreadableReply("it is not an object"));
}
