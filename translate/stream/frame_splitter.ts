/**
 * Splits an event stream's bytes after complete frames, for all three line endings, without
 * changing a byte; a CRLF that two chunks share belongs to the frame that it ends. Pass-through
 * needs the boundaries: only there may a ping or an error be inserted. Frames are not parsed here.
 */
import { joinPieces } from "../bytes/buffers.ts";
import { MAX_FRAME_BYTES } from "./sse.ts";
import { unreadableStream } from "../model/reply_faults.ts";

/** Finds complete frames (their bytes, blank line included) in chunks of bytes cut anywhere. */
export interface FrameSplitter {
  /**
   * The first frame that ends at or after `at`, together with its bytes from earlier chunks;
   * undefined where this chunk completes no frame: its rest is then buffered.
   *
   * @throws {ApiError} `upstream` for a frame longer than {@linkcode MAX_FRAME_BYTES}
   */
  cut(chunk: Uint8Array, at: number): Uint8Array | undefined;
  /** The position in the chunk after the frame that was returned last. */
  cutEnd(): number;
  /** True where the next byte starts a frame: nothing is buffered. */
  atEdge(): boolean;
  /** The buffered bytes at the end of the body, without a final blank line. Possibly none. */
  rest(): Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;
const LINE_FEED = Uint8Array.of(LF);

export function frameSplitter(): FrameSplitter {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let end = 0;
  let lineEmpty = true;
  let afterCr = false;
  // Blank lines before the first field belong to the frame that follows.
  let hasContent = false;
  /** True after a frame to which the LF was added with which the next chunk begins. */
  let skipsLf = false;
  return {
    cut(chunk, from) {
      let at = from;
      if (skipsLf && at < chunk.length) {
        skipsLf = false;
        if (chunk[at] === LF) at++;
      }
      for (let i = at; i < chunk.length; i++) {
        const lineEnd = lineEndAt(chunk, i);
        if (lineEnd > i) {
          afterCr = false;
          lineEmpty = false;
          hasContent = true;
          if (lineEnd === chunk.length) break;
          i = lineEnd;
        }
        const byte = chunk[i];
        if (byte === LF && afterCr) {
          afterCr = false;
          continue;
        }
        afterCr = byte === CR;
        if (!lineEmpty) {
          lineEmpty = true;
          continue;
        }
        if (!hasContent) continue;
        // A CR here may be half of a CRLF: its LF belongs to the frame.
        const paired = byte === CR && chunk[i + 1] === LF;
        end = paired ? i + 2 : i + 1;
        if (paired) afterCr = false;
        pending.push(chunk.subarray(at, end));
        let frame = joinPieces(pending);
        if (end === chunk.length && endsInHalfCrlf(frame)) {
          // After the last frame no further chunk is read.
          frame = joinPieces([frame, LINE_FEED]);
          afterCr = false;
          skipsLf = true;
        }
        pending = [];
        pendingBytes = 0;
        hasContent = false;
        return frame;
      }
      if (at < chunk.length) {
        pending.push(chunk.subarray(at));
        pendingBytes += chunk.length - at;
        if (pendingBytes > MAX_FRAME_BYTES) {
          throw unreadableStream("a frame is too long");
        }
      }
      return undefined;
    },
    cutEnd: () => end,
    atEdge: () => pending.length === 0,
    rest() {
      const left = joinPieces(pending);
      pending = [];
      return left;
    },
  };
}

/** True for a frame that ends in CR LF CR. */
function endsInHalfCrlf(frame: Uint8Array): boolean {
  return frame.at(-1) === CR && frame.at(-2) === LF && frame.at(-3) === CR;
}

/**
 * The position of the next line feed or carriage return; the chunk's length where there is none.
 * One loop for both: a second search, or `indexOf`, would read the text twice or beyond the frame.
 */
function lineEndAt(chunk: Uint8Array, from: number): number {
  let at = from;
  // Both are below nearly all other bytes: one comparison a byte.
  for (; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0;
    if (byte <= CR && (byte === LF || byte === CR)) break;
  }
  return at;
}
