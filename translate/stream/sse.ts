/**
 * Converts bytes of an event stream to frames and back. Reading follows the WHATWG rules through
 * `eventsource-parser`, and also detects two things that those rules ignore: a last frame without
 * its blank line, and a bare JSON object in place of a frame (one vendor's way to report a failure
 * inside a stream). Dialects interpret the frames.
 */
import { createParser } from "eventsource-parser";
import { requireFewValues } from "../bytes/few_values.ts";
import { unreadableStream } from "../model/reply_faults.ts";

/** One message of an event stream. `event` is absent where there was no such line. */
export interface Frame {
  /** The value of the `event:` line. */
  readonly event?: string;
  /** The `data:` lines joined, or the bare JSON object. */
  readonly data: string;
  /** The data's value as JSON, once `frameJson()` has parsed it. */
  parsed?: { readonly value: unknown };
}

/** The longest frame that is read, in bytes; bounds the memory that an endless frame can take. */
export const MAX_FRAME_BYTES: number = 32 * 1024 * 1024;

/**
 * Lines without a known field that are read between two frames, such as those of a bare object: the
 * parser makes an error of each, which takes microseconds.
 */
const MAX_UNKNOWN_LINES = 5_000;

/** Turns chunks of bytes, cut anywhere, into frames. */
export interface SseParser {
  /**
   * The frames that this chunk completes.
   *
   * @throws {ApiError} `upstream` for a frame longer than {@linkcode MAX_FRAME_BYTES}, or with too
   * many values or unknown lines
   */
  push(chunk: Uint8Array): readonly Frame[];
  /** The body has ended: returns the last frame if it has no blank line. */
  end(): readonly Frame[];
}

/** Keeps a byte order mark: after the start of a stream it is an ordinary character. */
const LATER_DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes a stream's chunks in order. */
function textDecoder(): {
  decode(chunk: Uint8Array): string;
  end(): string;
} {
  const decoder = new TextDecoder();
  let isStart = true;
  let isCut = false;
  return {
    decode(chunk) {
      const endsWhole = (chunk.at(-1) ?? 0) < 0x80;
      // Decoding without a state takes a third to a sixth of the time.
      if (!isStart && !isCut && endsWhole) return LATER_DECODER.decode(chunk);
      if (chunk.length > 0) {
        isStart = false;
        isCut = !endsWhole;
      }
      return decoder.decode(chunk, { stream: true });
    },
    end: () => decoder.decode(),
  };
}

/** Makes a {@linkcode SseParser} for one stream. */
export function sseParser(): SseParser {
  const decoder = textDecoder();
  let frames: Frame[] = [];
  let bare = "";
  // Fragments of a line without its end. The parser receives whole lines only, because it drops a
  // partial line of an unknown kind.
  let partial: string[] = [];
  let size = 0;
  let unknownLines = 0;
  const flushBare = (): void => {
    if (bare === "") return;
    frames.push({ data: bare });
    bare = "";
  };
  const parser = createParser({
    onEvent(message) {
      flushBare();
      unknownLines = 0;
      frames.push(
        message.event === undefined
          ? { data: message.data }
          : { event: message.event, data: message.data },
      );
    },
    onError(problem) {
      if (++unknownLines > MAX_UNKNOWN_LINES) {
        throw unreadableStream("it is no event stream");
      }
      if (problem.type !== "unknown-field") return;
      const line = problem.line ?? "";
      if (bare === "" && !/^\s*[{[]/.test(line)) return;
      bare += `${line}\n`;
    },
  });
  const feed = (text: string): void => {
    const lineEnd = text.endsWith("\n")
      ? text.length
      : Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (lineEnd === 0) {
      if (text !== "") partial.push(text);
      return;
    }
    partial.push(text.slice(0, lineEnd));
    const lines = partial.join("");
    partial = lineEnd === text.length ? [] : [text.slice(lineEnd)];
    parser.feed(lines);
  };
  const take = (): readonly Frame[] => {
    const taken = frames;
    frames = [];
    for (const { data } of taken) requireFewValues(data);
    return taken;
  };
  return {
    push(chunk) {
      size += chunk.length;
      feed(decoder.decode(chunk));
      if (frames.length > 0) size = 0;
      if (size > MAX_FRAME_BYTES) {
        throw unreadableStream("a frame is too long");
      }
      return take();
    },
    end() {
      // Adds the line end and blank line that the sender may have left out; harmless where it did
      // not.
      feed(`${decoder.end()}\n\n\n`);
      flushBare();
      return take();
    },
  };
}

/** Encodes a frame with an event line. `data` is JSON text, so it contains no line end. */
export function namedFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** Encodes a frame without an event line. */
export function dataFrame(data: string): string {
  return `data: ${data}\n\n`;
}
