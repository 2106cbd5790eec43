/**
 * Decodes a whole reply into the events that a stream would have had.
 */
import type { DecodeContext } from "../../dialect.ts";
import { isObject, textIn } from "../../bytes/json.ts";
import { type ReplyEvent } from "../../model/reply.ts";
import { isErrorBody } from "./error.ts";
import { replyReader } from "./reply_reader.ts";
import { unendedReply, unreadableReply } from "../../model/reply_faults.ts";

export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  if (isObject(body) && isErrorBody(body)) {
    return reader.read({ ...body, type: "error" });
  }
  const content = isObject(body) ? body["content"] : undefined;
  if (!isObject(body) || !(Array.isArray(content) || textIn(content))) {
    return reader.fail(unreadableReply("it is no message"));
  }
  const { stop_reason, stop_sequence, stop_details, usage } = body;
  return [
    ...reader.read({
      type: "message_start",
      message: typeof content === "string"
        ? { ...body, content: [{ type: "text", text: content }] }
        : body,
    }),
    ...reader.read({
      type: "message_delta",
      delta: { stop_reason, stop_sequence, stop_details },
      usage,
    }),
    ...textIn(stop_reason) === undefined
      ? reader.fail(unendedReply())
      : reader.read({ type: "message_stop" }),
  ];
}
