/**
 * Frames of a stream → neutral events. This wire names no events and has no last frame: the end of the body is the end, provided
 * that a finish reason was seen. Older models send one with every frame, so the first is no sign of the end.
 *
 * @module
 */
import type { DecodeContext, StreamDecoder } from "../dialect.ts";
import { ApiError } from "../error.ts";
import { exactJson } from "../exact_json.ts";
import { replyReader } from "./reader.ts";

/** Reads one stream; frames of a JSON array (a stream without `alt=sse`) are read element by element. */
export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  return {
    push(frame) {
      const data = frame.data.trim();
      // Proxies in front of the vendor add the chat format's last frame; it says nothing here.
      if (data === "" || data === "[DONE]") return [];
      const value = exactJson(data);
      return value === undefined
        ? reader.fail(
          new ApiError(
            "upstream",
            "could not read the upstream's stream: a frame is not JSON",
          ),
        )
        : reader.read(value);
    },
    more: reader.more,
    end: () => reader.finish(false),
  };
}
