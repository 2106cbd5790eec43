/**
 * A whole reply → neutral events: the same as a stream's, through the same {@linkcode ReplyReader}.
 *
 * @module
 */
import type { DecodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import { isObject } from "../json.ts";
import type { ReplyEvent } from "../reply.ts";
import { replyReader } from "./reader.ts";

/**
 * Reads a whole reply: a response object, or the array of them that a stream without `alt=sse` is. An error inside, also one
 * wrapped in an array, becomes an `error` event.
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
