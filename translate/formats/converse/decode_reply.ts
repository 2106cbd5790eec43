/**
 * Decodes a whole reply into the events that a stream would have had.
 */
import type { DecodeContext } from "../../dialect.ts";
import { arrayOr, isObject, objectOr } from "../../bytes/json.ts";
import { ApiError } from "../../model/error.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";

export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  const { output, stopReason, usage } = objectOr(body);
  const message = objectOr(objectOr(output)["message"]);
  if (!Array.isArray(message["content"])) {
    return reader.fail(
      new ApiError(
        "upstream",
        "could not read the upstream's reply: it is no message",
      ),
    );
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
