/**
 * Goes through an event stream's bytes frame by frame: each is either read, or recognised as one like the frame before
 * (`frame_template.ts`), which is far cheaper. What becomes of a frame is the relays' business.
 *
 * @module
 */
import { frameCutter } from "./frame_cutter.ts";
import {
  type FrameTemplate,
  frameTemplate,
  type VaryingKeys,
} from "./frame_template.ts";
import type { ReplyEvent } from "./reply.ts";
import { joinPieces } from "./slab.ts";
import { type Frame, frameReader } from "./sse.ts";

/** Takes the frames of one stream, in their order. */
export interface FrameTaker {
  /**
   * A frame's bytes, and the frames that they are: none for a comment. Gives what {@linkcode loneDelta} finds in it, so that
   * others like it can be recognised.
   */
  take(bytes: Uint8Array, frames: readonly Frame[]): string | undefined;
  /** The frame at `chunk[start]` to `chunk[end - 1]`, like the one before; `like` tells its text until the next call. */
  takeLike(
    chunk: Uint8Array,
    start: number,
    end: number,
    like: FrameTemplate,
  ): void;
  /** True once nothing more is wanted. */
  isDone(): boolean;
}

/** The way through one stream. */
export interface FrameWalk {
  /**
   * Hands over the frames that this chunk completes.
   *
   * @throws {ApiError} `upstream` for a frame that is too long
   */
  push(chunk: Uint8Array): void;
  /** The body is over: hands over the frame that was left without its blank line, if there is one. */
  end(): void;
}

/** The text of the one delta that a frame says, where it says nothing else but the usage that its counts tell. */
export function loneDelta(
  events: readonly ReplyEvent[],
  varying: VaryingKeys | undefined,
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

/** So many frames in a row that are like none before: then no more is learned, for this stream's frames all differ. */
const MAX_STRANGERS = 16;

/**
 * Begins the way through one stream.
 *
 * @param varying what may differ between like frames; absent: every frame is read, and its bytes are not told
 * @param model what takes the place of the model that frames tell, as a JSON string; absent where it stays
 */
export function frameWalk(
  taker: FrameTaker,
  varying: VaryingKeys | undefined,
  model?: Uint8Array,
): FrameWalk {
  const cutter = frameCutter();
  const reader = frameReader();
  let template: FrameTemplate | undefined;
  let strangers = 0;
  const read = (bytes: Uint8Array, frames: readonly Frame[]): void => {
    const text = taker.take(bytes, frames);
    template = undefined;
    if (text === undefined || varying === undefined) return;
    if (strangers === MAX_STRANGERS) return;
    strangers++;
    template = frameTemplate(bytes, text, varying, model);
  };
  const readAll = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      if (!taker.isDone()) taker.take(NOTHING, [frame]);
    }
  };
  return {
    push(chunk) {
      if (varying === undefined) return readAll(reader.push(chunk));
      for (let at = 0; at < chunk.length && !taker.isDone();) {
        if (template !== undefined && cutter.atEdge()) {
          const end = template.matchEnd(chunk, at);
          if (end >= 0) {
            strangers = 0;
            taker.takeLike(chunk, at, end, template);
            at = end;
            continue;
          }
        }
        const bytes = cutter.cut(chunk, at);
        if (bytes === undefined) return;
        at = cutter.cutEnd();
        read(bytes, reader.push(bytes));
      }
    },
    end() {
      if (varying === undefined) return readAll(reader.end());
      const rest = cutter.rest();
      const frames = [...reader.push(rest), ...reader.end()];
      // A frame without its blank line is whole; bytes that are no frame are the beginning of one, and say nothing.
      if (frames.some((frame) => frame.data !== "")) {
        taker.take(joinPieces([rest, BLANK_LINES]), frames);
      }
    },
  };
}
