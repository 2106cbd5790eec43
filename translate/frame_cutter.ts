/**
 * Cuts an event stream's bytes behind whole frames, whatever its line ends, without changing one. Pass-through needs the edges:
 * only there may a ping or an error be put in. What is in a frame is not looked at here.
 *
 * @module
 */
import { ApiError } from "./error.ts";
import { joinPieces } from "./slab.ts";
import { MAX_FRAME_BYTES } from "./sse.ts";

/** Finds whole frames (their bytes, blank line included) in chunks of bytes cut anywhere. */
export interface FrameCutter {
  /**
   * The frame that ends first at or behind `at`, with what earlier chunks had of it; undefined where this chunk ends none: its
   * rest is then kept.
   *
   * @throws {ApiError} `upstream` for a frame longer than {@linkcode MAX_FRAME_BYTES}
   */
  cut(chunk: Uint8Array, at: number): Uint8Array | undefined;
  /** The position in the chunk behind the frame that was cut last. */
  cutEnd(): number;
  /** True where the next byte is the first of a frame: nothing is kept. */
  atEdge(): boolean;
  /** What is left when the body is over: bytes that no blank line ended. Possibly none. */
  rest(): Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;

/** Makes a {@linkcode FrameCutter} for one stream. */
export function frameCutter(): FrameCutter {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let end = 0;
  let lineEmpty = true;
  let afterCr = false;
  // Blank lines before any field belong to the frame that follows: a frame of nothing is none.
  let hasContent = false;
  return {
    cut(chunk, at) {
      for (let i = at; i < chunk.length; i++) {
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
        const paired = byte === CR && chunk[i + 1] === LF;
        end = paired ? i + 2 : i + 1;
        if (paired) afterCr = false;
        pending.push(chunk.subarray(at, end));
        const frame = joinPieces(pending);
        pending = [];
        pendingBytes = 0;
        hasContent = false;
        return frame;
      }
      if (at < chunk.length) {
        pending.push(chunk.subarray(at));
        pendingBytes += chunk.length - at;
        if (pendingBytes > MAX_FRAME_BYTES) {
          throw new ApiError(
            "upstream",
            "could not read the upstream's stream: a frame is too long",
          );
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
