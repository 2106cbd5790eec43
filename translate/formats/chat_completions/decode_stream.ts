/**
 * Decodes the frames of an upstream's stream into events. A stream is complete if it ends with
 * `[DONE]` after any content, or if the body ends after the finish reason of every choice. Any
 * other end is an error.
 */
import type { DecodeContext, StreamDecoder } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { isObject, parseJson } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import type { MatchedFrame } from "../../stream/frame_template.ts";
import type { Frame } from "../../stream/sse.ts";
import { replyReader } from "./reply_reader.ts";
import { inBandError } from "./error.ts";
import { cutStream } from "../../model/reply_faults.ts";

const DONE = "[DONE]";

export function streamDecoder(context: DecodeContext): StreamDecoder {
  const reader = replyReader(context);
  let ended = false;
  const fail = (error: ApiError): readonly ReplyEvent[] => {
    ended = true;
    return [{ type: "error", error }];
  };
  const finish = (): readonly ReplyEvent[] => {
    ended = true;
    try {
      return reader.finish();
    } catch (error) {
      // Only the errors that `finish()` documents; internal errors propagate.
      if (!(error instanceof ApiError)) throw error;
      return fail(error);
    }
  };
  return {
    push(frame: Frame) {
      if (ended) return [];
      const data = frame.data.trim();
      if (data === "") return [];
      if (data === DONE) {
        return reader.finished() || reader.began()
          ? finish()
          : fail(cutStream());
      }
      const chunk = parseJson(data);
      if (chunk === undefined) {
        return fail(
          new ApiError(
            "upstream",
            "the upstream sent a frame that is not JSON",
          ),
        );
      }
      if (frame.event === "error") return fail(inBandError(chunk));
      // One vendor's OpenAI-compatible endpoint wraps its errors in an array.
      const only = Array.isArray(chunk) ? chunk.find(isObject) : chunk;
      if (!isObject(only)) return [];
      const events = reader.read(only);
      ended = events.at(-1)?.type === "error";
      return events;
    },
    // Where a text may end its reasoning, each frame is read.
    ...(context.thinkTags === true
      ? {}
      : { pushMatched: (like: MatchedFrame) => reader.more(like.text()) }),
    end() {
      if (ended) return [];
      return reader.complete() ? finish() : fail(cutStream());
    },
  };
}
