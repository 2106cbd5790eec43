/**
 * Decodes an upstream's streams in the messages format. `reply_reader.ts` interprets the events;
 * `encode_stream.ts` is the inverse.
 */
import type { DecodeContext, StreamDecoder } from "../../dialect.ts";
import { exactJson } from "../../bytes/exact_json.ts";
import { isObject } from "../../bytes/json.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableStream } from "../../model/reply_faults.ts";

export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const text = frame.data.trim();
      // Some upstreams send the chat format's end mark; message_stop already marks the end.
      if (text === "" || text === "[DONE]") return [];
      const data = exactJson(text);
      if (data === undefined) {
        return reader.fail(unreadableStream("a frame is not JSON"));
      }
      return isObject(data) ? reader.read(data, frame.event) : [];
    },
    // A delta's frame changes no other state.
    pushMatched(like) {
      const text = like.text();
      return text === "" ? [] : [{ type: "delta", text }];
    },
    end: () => reader.end(),
  };
}
