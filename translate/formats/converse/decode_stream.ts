/**
 * Decodes the frames of a stream. `reply_reader.ts` interprets the events.
 */
import type { DecodeContext, StreamDecoder } from "../../dialect.ts";
import { exactJson } from "../../bytes/exact_json.ts";
import { isObject } from "../../bytes/json.ts";
import { ApiError } from "../../model/error.ts";
import { replyReader } from "./reply_reader.ts";

export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const data = exactJson(frame.data);
      return isObject(data)
        ? reader.read(frame.event ?? "", data)
        : reader.fail(
          new ApiError(
            "upstream",
            "could not read the upstream's stream: a frame is not JSON",
          ),
        );
    },
    end: () => reader.end(),
  };
}
