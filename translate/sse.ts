/**
 * Bytes of an event stream ↔ frames. Reading follows the WHATWG rules through `eventsource-parser`, and notices two things that
 * those rules pass over: a last frame without its blank line, and a bare JSON object where a frame should be (one vendor's way
 * of failing in the middle of a stream). What a frame means is the dialects' business.
 *
 * @module
 */
import { createParser } from "eventsource-parser";
import { ApiError } from "./error.ts";

/** One message of an event stream. `event` is absent where no such line was sent. */
export interface Frame {
  /** What the `event:` line says. */
  readonly event?: string;
  /** The `data:` lines joined, or the bare JSON that stood where a frame should be. */
  readonly data: string;
}

/** The longest frame that is read, in bytes; an endless one must not eat the memory. */
export const MAX_FRAME_BYTES: number = 32 * 1024 * 1024;

/** Turns chunks of bytes, cut anywhere, into frames. */
export interface FrameReader {
  /**
   * The frames that this chunk completes.
   *
   * @throws {ApiError} `upstream` for a frame longer than {@linkcode MAX_FRAME_BYTES}
   */
  push(chunk: Uint8Array): readonly Frame[];
  /** The body is over: the frame that was left without its blank line, if there is one. */
  end(): readonly Frame[];
}

/** Makes a {@linkcode FrameReader} for one stream. */
export function frameReader(): FrameReader {
  const decoder = new TextDecoder();
  let frames: Frame[] = [];
  let bare = "";
  // Fragments of a line without its end. The parser is fed whole lines only, for it drops a cut line of a kind unknown to it.
  let partial: string[] = [];
  let size = 0;
  const flushBare = (): void => {
    if (bare === "") return;
    frames.push({ data: bare });
    bare = "";
  };
  const parser = createParser({
    onEvent(message) {
      flushBare();
      frames.push(
        message.event === undefined
          ? { data: message.data }
          : { event: message.event, data: message.data },
      );
    },
    onError(problem) {
      if (problem.type !== "unknown-field") return;
      const line = problem.line ?? "";
      if (bare === "" && !/^\s*[{[]/.test(line)) return;
      bare += `${line}\n`;
    },
  });
  const feed = (text: string): void => {
    const lineEnd = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) +
      1;
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
    return taken;
  };
  return {
    push(chunk) {
      size += chunk.length;
      feed(decoder.decode(chunk, { stream: true }));
      if (frames.length > 0) size = 0;
      if (size > MAX_FRAME_BYTES) {
        throw new ApiError(
          "upstream",
          "could not read the upstream's stream: a frame is too long",
        );
      }
      return take();
    },
    end() {
      // The line end and the blank line that the sender left out; harmless where it did not.
      feed(`${decoder.decode()}\n\n\n`);
      flushBare();
      return take();
    },
  };
}

/** Writes a frame with an event line. `data` is JSON text, so it holds no line end. */
export function namedFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** Writes a frame without an event line. */
export function dataFrame(data: string): string {
  return `data: ${data}\n\n`;
}
