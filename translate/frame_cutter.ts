/**
 * Cuts an event stream's bytes behind whole frames, whatever its line ends, without changing one. Pass-through needs the edges:
 * only there may a ping or an error be put in. What is in a frame is not looked at here.
 *
 * @module
 */
import { ApiError } from "./error.ts";
import { joined } from "./json_splice.ts";
import { MAX_FRAME_BYTES } from "./sse.ts";

/** Turns chunks of bytes, cut anywhere, into whole frames (their bytes, blank line included). */
export interface FrameCutter {
  /**
   * The frames that this chunk completes.
   *
   * @throws {ApiError} `upstream` for a frame longer than {@linkcode MAX_FRAME_BYTES}
   */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** What is left when the body is over: bytes that no blank line ended. Possibly none. */
  rest(): Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;

/** Makes a {@linkcode FrameCutter} for one stream. */
export function frameCutter(): FrameCutter {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let lineEmpty = true;
  let afterCr = false;
  // Blank lines before any field belong to the frame that follows: a frame of nothing is none.
  let hasContent = false;
  return {
    push(chunk) {
      const frames: Uint8Array[] = [];
      let start = 0;
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i];
        if (byte === LF && afterCr) {
          afterCr = false;
          continue;
        }
        afterCr = byte === CR;
        if (byte !== LF && byte !== CR) {
          lineEmpty = false;
          hasContent = true;
          continue;
        }
        if (!lineEmpty) {
          lineEmpty = true;
          continue;
        }
        if (!hasContent) continue;
        // A CR here may be half of a CRLF: its LF stays with the frame where it has already arrived.
        const end = byte === CR && chunk[i + 1] === LF ? i + 2 : i + 1;
        pending.push(chunk.subarray(start, end));
        frames.push(joined(pending));
        pending = [];
        pendingBytes = 0;
        hasContent = false;
        start = end;
      }
      if (start < chunk.length) {
        pending.push(chunk.subarray(start));
        pendingBytes += chunk.length - start;
        if (pendingBytes > MAX_FRAME_BYTES) {
          throw new ApiError(
            "upstream",
            "could not read the upstream's stream: a frame is too long",
          );
        }
      }
      return frames;
    },
    rest() {
      const left = joined(pending);
      pending = [];
      return left;
    },
  };
}
