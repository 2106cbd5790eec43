/**
 * Decodes the frames of a stream. `reply_reader.ts` interprets the events.
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
      const data = exactJson(frame.data);
      return isObject(data)
        ? reader.read(frame.event ?? "", data)
        : reader.fail(unreadableStream("a frame is not JSON"));
    },
    end: () => reader.end(),
  };
}
