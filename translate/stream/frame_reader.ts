/**
 * Reads an event stream frame by frame: each frame is either parsed, or matched with the frame
 * before it (`frame_template.ts`), which is far cheaper. The relays decide what happens to a frame.
 */
import { frameSplitter } from "./frame_splitter.ts";
import type { Edit } from "../bytes/apply_edits.ts";
import {
  type FrameTemplate,
  frameTemplate,
  type VariableKeys,
} from "./frame_template.ts";
import type { ReplyEvent } from "../model/reply.ts";
import { joinPieces } from "../bytes/buffers.ts";
import { type Frame, sseParser } from "./sse.ts";

/** Receives the frames of one stream, in order. */
interface FrameHandler {
  /**
   * Receives a frame's bytes and the parsed frames in them: none for a comment. Returns the result
   * of {@linkcode loneDelta}, so that similar frames can be matched.
   */
  onFrame(bytes: Uint8Array, frames: readonly Frame[]): string | undefined;
  /**
   * Receives a frame at `chunk[start]` to `chunk[end - 1]` that matches the one before; `like` is
   * valid until the next call.
   */
  onMatched(
    chunk: Uint8Array,
    start: number,
    end: number,
    like: FrameTemplate,
  ): void;
  /** True once no more frames are needed. */
  isDone(): boolean;
}

interface FrameReader {
  /**
   * Passes on the frames that this chunk completes.
   *
   * @throws {ApiError} `upstream` for a frame that is too long
   */
  push(chunk: Uint8Array): void;
  /** The body has ended: passes on the last frame if it has no blank line. */
  end(): void;
}

/**
 * The text of a frame's only delta; undefined where the frame has other events, except usage that
 * the frame's counts give.
 */
export function loneDelta(
  events: readonly ReplyEvent[],
  varying: VariableKeys | undefined,
): string | undefined {
  let text: string | undefined;
  for (const event of events) {
    if (event.type === "usage" && varying?.counts !== undefined) continue;
    if (event.type !== "delta" || text !== undefined) return undefined;
    text = event.text;
  }
  return text;
}

const NOTHING = new Uint8Array(0);
const BLANK_LINES = new TextEncoder().encode("\n\n");

/**
 * After this many frames in a row without a match no more templates are learned: the frames of this
 * stream all differ.
 */
const MAX_MISSES = 16;

/**
 * Makes the reader of one stream.
 *
 * @param varying values that may differ between matching frames; absent: every frame is parsed, and
 * its bytes are not passed on
 * @param editsOf the changes of a frame; absent where frames stay
 * @param onFrames called after each chunk that completes a frame; comments are none
 */
export function frameReader(
  handler: FrameHandler,
  varying: VariableKeys | undefined,
  editsOf?: (frame: Uint8Array) => readonly Edit[],
  onFrames?: () => void,
): FrameReader {
  const splitter = frameSplitter();
  const reader = sseParser();
  let template: FrameTemplate | undefined;
  let misses = 0;
  let hasFrames = false;
  const read = (bytes: Uint8Array, frames: readonly Frame[]): void => {
    if (frames.length > 0) hasFrames = true;
    const text = handler.onFrame(bytes, frames);
    template = undefined;
    if (text === undefined || varying === undefined) return;
    if (misses === MAX_MISSES) return;
    misses++;
    template = frameTemplate(bytes, text, varying, editsOf?.(bytes));
  };
  const onMatch = (
    bytes: Uint8Array,
    start: number,
    end: number,
    like: FrameTemplate,
  ): void => {
    misses = 0;
    hasFrames = true;
    handler.onMatched(bytes, start, end, like);
  };
  const readAll = (frames: readonly Frame[]): void => {
    if (frames.length > 0) hasFrames = true;
    for (const frame of frames) {
      if (!handler.isDone()) handler.onFrame(NOTHING, [frame]);
    }
  };
  const pushBytes = (chunk: Uint8Array): void => {
    if (varying === undefined) return readAll(reader.push(chunk));
    for (let at = 0; at < chunk.length && !handler.isDone();) {
      const isCut = !splitter.atEdge();
      if (template !== undefined && !isCut) {
        const end = template.matchEnd(chunk, at);
        if (end >= 0) {
          onMatch(chunk, at, end, template);
          at = end;
          continue;
        }
      }
      const bytes = splitter.cut(chunk, at);
      if (bytes === undefined) return;
      at = splitter.cutEnd();
      // A frame that two chunks share may match as well.
      if (isCut && template?.matchEnd(bytes, 0) === bytes.length) {
        onMatch(bytes, 0, bytes.length, template);
      } else read(bytes, reader.push(bytes));
    }
  };
  return {
    push(chunk) {
      hasFrames = false;
      pushBytes(chunk);
      if (hasFrames) onFrames?.();
    },
    end() {
      if (varying === undefined) return readAll(reader.end());
      const rest = splitter.rest();
      const frames = [...reader.push(rest), ...reader.end()];
      // A frame without its blank line is complete. Bytes without any field are an incomplete frame
      // and are ignored.
      if (frames.some((frame) => frame.data !== "")) {
        handler.onFrame(joinPieces([rest, BLANK_LINES]), frames);
      }
    },
  };
}
