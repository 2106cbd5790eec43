/**
 * Encodes events as frames for a client. The last frame repeats the whole reply. An error is sent
 * both in an `error` frame and in the failed reply after it, because some clients read only one
 * of them.
 */
import type { EncodeContext, StreamEncoder } from "../../dialect.ts";
import { replyWriter } from "./reply_writer.ts";

export function streamEncoder(context: EncodeContext): StreamEncoder {
  const writer = replyWriter(context);
  return {
    push: writer.push,
    flush: writer.flush,
    ping: writer.ping,
  };
}
