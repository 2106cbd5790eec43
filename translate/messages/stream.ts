/**
 * Streams in the messages format, read from an upstream. What the events mean is `reply_reader.ts`; writing is
 * `stream_encoder.ts`.
 *
 * @module
 */
import type { DecodeContext, StreamDecoder } from "../dialect.ts";
import { ApiError } from "../error.ts";
import { exactJson } from "../exact_json.ts";
import { isObject } from "../json.ts";
import { replyReader } from "./reply_reader.ts";

/** Makes the reader of one stream. */
export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const text = frame.data.trim();
      // Some upstreams borrow the chat format's end mark; it says nothing that message_stop does not.
      if (text === "" || text === "[DONE]") return [];
      const data = exactJson(text);
      if (data === undefined) {
        return reader.fail(
          new ApiError(
            "upstream",
            "could not read the upstream's stream: a frame is not JSON",
          ),
        );
      }
      return isObject(data) ? reader.take(data, frame.event) : [];
    },
    // A delta's frame says nothing that has to be remembered.
    more(like) {
      const text = like.text();
      return text === "" ? [] : [{ type: "delta", text }];
    },
    end: () => reader.end(),
  };
}
