/**
 * A stream between two sides that speak one dialect: the upstream's own bytes, frame by frame. Only three things are touched:
 * the `model` value becomes the id that the caller asked for, a usage frame that the caller did not ask for stays here, and a
 * failure (in the stream or by its being cut) is told in the dialect's clean form, with nothing after it.
 *
 * @module
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "./dialect.ts";
import { ApiError } from "./error.ts";
import { frameCutter } from "./frame_cutter.ts";
import { joined } from "./json_splice.ts";
import { withModel } from "./model_splice.ts";
import type { Relay } from "./relay.ts";
import type { ReplyEvent } from "./reply.ts";
import { observer } from "./seen.ts";
import { type Frame, frameReader } from "./sse.ts";

const ENCODER = new TextEncoder();
const NOTHING = new Uint8Array(0);
const BLANK_LINES = ENCODER.encode("\n\n");

/** Makes the relay for one stream; `upstream` reads what `dialect` writes. */
export function passThroughRelay(
  dialect: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
): Relay {
  const cutter = frameCutter();
  const reader = frameReader();
  const decoder = upstream.streamDecoder(decode);
  const encoder = dialect.streamEncoder(encode);
  const watch = observer();
  const model = ENCODER.encode(JSON.stringify(encode.model));
  let done = false;
  const failWith = (error: ApiError): Uint8Array => {
    if (done) return NOTHING;
    done = true;
    watch.observe({ type: "error", error });
    return ENCODER.encode(encoder.push({ type: "error", error }));
  };
  /** The bytes to send for a frame; what it means has been noted. */
  const relayed = (bytes: Uint8Array, frames: readonly Frame[]): Uint8Array => {
    const events: ReplyEvent[] = [];
    for (const frame of frames) {
      for (const event of decoder.push(frame)) events.push(event);
    }
    for (const event of events) {
      if (event.type === "error") return failWith(event.error);
      watch.observe(event);
      if (event.type === "end") done = true;
      // The encoder is not used for the answer, but it must know whether one has begun: its pings depend on that.
      if (event.type === "start") encoder.push(event);
    }
    if (frames.some((frame) => dialect.unasked(frame, encode))) return NOTHING;
    return frames.some((frame) => frame.data.includes('"model"'))
      ? withModel(bytes, model)
      : bytes;
  };
  return {
    push(chunk) {
      if (done) return NOTHING;
      const out: Uint8Array[] = [];
      try {
        for (const bytes of cutter.push(chunk)) {
          if (done) break;
          out.push(relayed(bytes, reader.push(bytes)));
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        out.push(failWith(error));
      }
      return joined(out);
    },
    end() {
      if (done) return NOTHING;
      const out: Uint8Array[] = [];
      const rest = cutter.rest();
      if (rest.length > 0) {
        const frames = [...reader.push(rest), ...reader.end()];
        // A frame without its blank line is whole; bytes that are no frame are the beginning of one, and say nothing.
        if (frames.some((frame) => frame.data !== "")) {
          out.push(relayed(joined([rest, BLANK_LINES]), frames));
        }
      }
      if (!done) {
        for (const event of decoder.end()) {
          if (event.type === "error") {
            out.push(failWith(event.error));
            continue;
          }
          watch.observe(event);
          if (event.type === "end") {
            out.push(ENCODER.encode(dialect.terminator));
          }
        }
        done = true;
      }
      return joined(out);
    },
    fail: failWith,
    ping: () =>
      done ? NOTHING : ENCODER.encode(encoder.ping() || ": keep-alive\n\n"),
    done: () => done,
    seen: watch.seen,
  };
}
