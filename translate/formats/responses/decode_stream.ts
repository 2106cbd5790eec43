/**
 * Decodes the frames of an upstream's stream into events. A stream is complete only if it had a
 * terminal event. Frames after that event, such as the `[DONE]` of one vendor, are ignored.
 */
import type { DecodeContext, StreamDecoder } from "../../dialect.ts";
import { isObject } from "../../bytes/json.ts";
import { frameJson } from "../../stream/frame_json.ts";
import { replyReader } from "./reply_reader.ts";
import { unreadableStream } from "../../model/reply_faults.ts";

export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const text = frame.data.trim();
      if (text === "" || text === "[DONE]") return [];
      const data = frameJson(frame);
      if (data === undefined) {
        return reader.fail(unreadableStream("a frame is not JSON"));
      }
      return isObject(data) ? reader.read(data, frame.event) : [];
    },
    pushMatched: (like) => reader.more(like.text()),
    partialText: () => reader.partialText(),
    end: () => reader.end(),
  };
}
