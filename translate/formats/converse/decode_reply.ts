/**
 * Decodes a whole reply into the events that a stream would have had.
 */
import type { DecodeContext } from "../../dialect.ts";
import { arrayOr, isObject, objectOr } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableReply } from "../../model/reply_faults.ts";

export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  const { output, stopReason, usage } = objectOr(body);
  const message = objectOr(objectOr(output)["message"]);
  if (!Array.isArray(message["content"])) {
    return reader.fail(unreadableReply("it is no message"));
  }
  return [
    ...reader.read("messageStart", {}),
    ...arrayOr(message["content"]).flatMap((part, contentBlockIndex) =>
      isObject(part) ? reader.read("block", { ...part, contentBlockIndex }) : []
    ),
    ...reader.read("messageStop", { stopReason }),
    ...reader.read("metadata", { usage }),
  ];
}
