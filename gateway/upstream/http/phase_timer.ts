/**
 * The time limits of a call: one timer for all its phases.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { monotonicMs } from "../../monotonic_ms.ts";
import type { TimerId, Timers } from "../../timers.ts";

/** Time limits of a call, in milliseconds. */
export interface CallLimits {
  /** From the call until a connection is ready for the request. */
  readonly connectTimeoutMs: number;
  /** From the end of the request to the head of the response. */
  readonly firstByteTimeoutMs: number;
  /** Longest silence inside the response body; in an event stream, longest time without a frame. */
  readonly idleTimeoutMs: number;
}

/** The limit that currently applies. */
type Phase = "connect" | "firstByte" | "idle";

/** The error texts of the limits. */
export const TIMEOUT_TEXTS: Readonly<Record<Phase, string>> = {
  connect: "could not reach the upstream in time",
  firstByte: "the upstream did not answer in time",
  idle: "the upstream fell silent during its reply",
};

const LIMIT_OF = {
  connect: "connectTimeoutMs",
  firstByte: "firstByteTimeoutMs",
  idle: "idleTimeoutMs",
} as const satisfies Record<Phase, keyof CallLimits>;

/** One timer per call: phases and bytes only record the time, and the timer checks it. */
export class PhaseTimer {
  readonly #limits: CallLimits;
  readonly #timers: Timers;
  readonly #isPaused: () => boolean;
  readonly #onTimeout: (error: ApiError) => void;
  #phase: Phase = "connect";
  /** Start of the phase or time of the last bytes, on the monotonic clock. */
  #lastActivityMs = 0;
  #timer: TimerId | undefined;
  /** When the timer fires. */
  #timerAtMs = Infinity;
  #isStopped = false;

  /** Starts with the phase `connect`. No limit applies while `isPaused`. */
  constructor(
    limits: CallLimits,
    timers: Timers,
    isPaused: () => boolean,
    onTimeout: (error: ApiError) => void,
  ) {
    this.#limits = limits;
    this.#timers = timers;
    this.#isPaused = isPaused;
    this.#onTimeout = onTimeout;
    this.enter("connect");
  }

  /** Begins a phase. */
  enter(phase: Phase): void {
    if (this.#isStopped) return;
    this.#phase = phase;
    this.#lastActivityMs = monotonicMs();
    const limitMs = this.#limits[LIMIT_OF[phase]];
    if (this.#lastActivityMs + limitMs < this.#timerAtMs) {
      this.#set(this.#lastActivityMs, limitMs);
    }
  }

  /** Bytes or a frame have arrived, or the reader was what kept them away. */
  noteActivity(): void {
    this.#lastActivityMs = monotonicMs();
  }

  /** The call has ended. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
  }

  #set(nowMs: number, ms: number): void {
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timerAtMs = nowMs + ms;
    this.#timer = this.#timers.set(() => this.#check(), ms);
  }

  #check(): void {
    if (this.#isPaused()) this.noteActivity();
    const nowMs = monotonicMs();
    const remainingMs = this.#limits[LIMIT_OF[this.#phase]] -
      (nowMs - this.#lastActivityMs);
    if (remainingMs > 0) return this.#set(nowMs, Math.ceil(remainingMs));
    this.#onTimeout(new ApiError("timeout", TIMEOUT_TEXTS[this.#phase]));
  }
}
