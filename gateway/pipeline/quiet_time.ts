/**
 * For how long a streamed reply was generated out of the client's sight: the time until its answer
 * begins, whatever is shown of the reasoning, and each later pause.
 */
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";

/** A shorter time without text is no pause. */
const PAUSE_MS = 1_000;
/** How exact the pauses are. */
const STEP_MS = 250;

/** Milliseconds out of sight. */
interface Quiet {
  readonly beforeAnswerMs: number;
  readonly pausesMs: number;
}

/** Follows one reply; the times are on one clock, in milliseconds. */
export class QuietTime {
  readonly #startedMs: number;
  readonly #progress: () => ReplyProgress;
  #judgedMs: number;
  #answeredMs: number | undefined;
  #pausesMs = 0;
  /** When the text last grew, and to how many characters. */
  #textMs = 0;
  #chars = 0;

  /** @param startedMs when the upstream received the request */
  constructor(startedMs: number, progress: () => ReplyProgress) {
    this.#startedMs = startedMs;
    this.#judgedMs = startedMs;
    this.#progress = progress;
  }

  /** A chunk of the upstream has been relayed. */
  chunk(nowMs: number): void {
    if (this.#answeredMs === undefined || nowMs - this.#judgedMs >= STEP_MS) {
      this.#judge(nowMs);
    }
  }

  until(nowMs: number): Quiet {
    if (this.#answeredMs === undefined) {
      return { beforeAnswerMs: nowMs - this.#startedMs, pausesMs: 0 };
    }
    return {
      beforeAnswerMs: this.#answeredMs - this.#startedMs,
      pausesMs: this.#pausesMs + pause(nowMs - this.#textMs),
    };
  }

  #judge(nowMs: number): void {
    this.#judgedMs = nowMs;
    const { generatedChars, thoughtChars } = this.#progress();
    if (thoughtChars === undefined || generatedChars === this.#chars) return;
    this.#chars = generatedChars;
    if (this.#answeredMs === undefined) this.#answeredMs = nowMs;
    else this.#pausesMs += pause(nowMs - this.#textMs);
    this.#textMs = nowMs;
  }
}

function pause(ms: number): number {
  return ms >= PAUSE_MS ? ms : 0;
}
