/**
 * Decodes a whole reply with the same {@linkcode ReplyReader} as a stream, so the events are the
 * same.
 */
import type { DecodeContext } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { isObject } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { replyReader } from "./reply_reader.ts";

/**
 * Decodes a whole reply: a response object, or the array of them that is sent for a stream without
 * `alt=sse`. An error inside, also one in an array, becomes an `error` event.
 */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  if (!isObject(body) && !Array.isArray(body)) {
    return reader.fail(
      new ApiError("upstream", "the upstream's reply is not a JSON object"),
    );
  }
  return [...reader.read(body), ...reader.finish(isObject(body))];
}
