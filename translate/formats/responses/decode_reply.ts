/**
 * Decodes a whole reply of an upstream into the events that a stream would have sent.
 */
import type { DecodeContext } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { isObject } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";

/** Decodes a whole reply leniently. An error inside it becomes an `error` event. */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  return isObject(body) ? reader.whole(body) : reader.fail(
    new ApiError(
      "upstream",
      "could not read the upstream's reply: it is not an object",
    ),
  );
}
