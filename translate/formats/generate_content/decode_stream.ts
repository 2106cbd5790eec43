/**
 * Decodes the frames of a stream. This format names no events and has no last frame: the end of the
 * body ends the reply, provided that there was a finish reason. Older models send one in every
 * frame, so the first finish reason does not end the reply.
 */
import type { DecodeContext, StreamDecoder } from "../../dialect.ts";
import { exactJson } from "../../bytes/exact_json.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableStream } from "../../model/reply_faults.ts";

/**
 * Makes the decoder of one stream; frames that hold a JSON array (a stream without `alt=sse`) are
 * decoded element by element.
 */
export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const data = frame.data.trim();
      // Proxies in front of the vendor add the chat format's last frame; it has no meaning here.
      if (data === "" || data === "[DONE]") return [];
      const value = exactJson(data);
      return value === undefined
        ? reader.fail(unreadableStream("a frame is not JSON"))
        : reader.read(value);
    },
    pushMatched: reader.readMatched,
    end: () => reader.finish(false),
  };
}
