/**
 * The bytes of the mock upstream's replies, built once per plan and framed as HTTP.
 */
import { joinBytes } from "../../replay/join_bytes.ts";
import { type UpstreamDialect, wholeBody } from "./mock_bodies.ts";
import { streamFrames, textPieces } from "./mock_frames.ts";
import { type ReplyPlan, UNSTAMPED } from "../load/reply_plan.ts";

/** A reply that is sent unchanged. */
export interface ReadyReply {
  /** Bytes of each write. */
  readonly writes: readonly Uint8Array[];
}

/** A reply whose events are stamped and sent at a fixed rate. */
export interface PacedReply {
  /** The head, and the frames before the first text. */
  readonly opening: Uint8Array;
  /** The frames with text, each an HTTP chunk of its own. */
  readonly frames: readonly PacedFrame[];
  /** The frames after the last text, and the end of the body. */
  readonly closing: Uint8Array;
}

/** A frame with room for a stamp. */
interface PacedFrame {
  /** Shared by all streams: copy it before stamping. */
  readonly bytes: Uint8Array;
  /** Offset of the stamp. */
  readonly stampAt: number;
}

const encoder = new TextEncoder();

/** A whole reply in one write. */
export function wholeReply(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): ReadyReply {
  const text = textPieces(plan).join("");
  const body = encoder.encode(
    JSON.stringify(wholeBody(dialect, text, plan.events)),
  );
  return {
    writes: [joinBytes([
      encoder.encode(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      ),
      body,
    ])],
  };
}

/** A stream that is sent as fast as the client reads it. */
export function fastStream(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): ReadyReply {
  const { opening, texts, closing } = streamFrames(dialect, plan);
  const chunks = [...opening, ...texts, ...closing].map(chunk);
  const perWrite = plan.perWrite === 0 ? chunks.length : plan.perWrite;
  const writes: Uint8Array[] = [];
  for (let at = 0; at < chunks.length; at += perWrite) {
    writes.push(joinBytes(chunks.slice(at, at + perWrite)));
  }
  const [first = new Uint8Array(), ...rest] = writes;
  const last = rest.pop();
  return {
    writes: last === undefined
      ? [joinBytes([STREAM_HEAD, first, LAST_CHUNK])]
      : [
        joinBytes([STREAM_HEAD, first]),
        ...rest,
        joinBytes([last, LAST_CHUNK]),
      ],
  };
}

/** A stream that is sent event by event, at the rate of its plan. */
export function pacedStream(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): PacedReply {
  const { opening, texts, closing } = streamFrames(dialect, plan);
  return {
    opening: joinBytes([STREAM_HEAD, ...opening.map(chunk)]),
    frames: texts.map((text) => {
      const bytes = chunk(text);
      const head = bytes.length - encoder.encode(text).length - 2;
      return { bytes, stampAt: head + text.indexOf(UNSTAMPED) + 1 };
    }),
    closing: joinBytes([...closing.map(chunk), LAST_CHUNK]),
  };
}

const STREAM_HEAD = encoder.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n" +
    "transfer-encoding: chunked\r\n\r\n",
);
const LAST_CHUNK = encoder.encode("0\r\n\r\n");

function chunk(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  return joinBytes([
    encoder.encode(`${bytes.length.toString(16)}\r\n`),
    bytes,
    encoder.encode("\r\n"),
  ]);
}
