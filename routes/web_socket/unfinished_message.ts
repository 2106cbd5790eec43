/**
 * What has arrived of a message whose end is missing: how much it may be, and how long that may
 * take. A frame of control may stand inside a message; there, it counts as a part of it.
 */
import type { TimerId, Timers } from "../../gateway/timers.ts";

/** Bytes of a control frame beside its payload: two, and the mask. */
const CONTROL_HEAD = 6;
/** Less than these may be a control frame that is cut. */
const MAX_CONTROL_BYTES = CONTROL_HEAD + 125;
/** The heads of fragments, and some control frames between them. */
const OVERHEAD_BYTES = 1024 * 1024;

/** Bounds on a message that arrives, and what happens beyond them. */
interface MessageBounds {
  /** Bytes of its text. */
  readonly maxBytes: number;
  /** From its first byte to its last. */
  readonly timeoutMs: number;
  readonly tooLarge: () => void;
  readonly tooSlow: () => void;
}

/** The message that arrives on a connection, if there is one. */
export class UnfinishedMessage {
  readonly #bounds: MessageBounds;
  readonly #timers: Timers;
  /** Without control frames. */
  #bytes = 0;
  #allBytes = 0;
  #timer: TimerId | undefined;

  constructor(bounds: MessageBounds, timers: Timers) {
    this.#bounds = bounds;
    this.#timers = timers;
  }

  /** Bytes that are about to be read as frames. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#allBytes += bytes;
  }

  /** A control frame was among the bytes that were added. */
  takeControl(payload: Uint8Array): void {
    this.#bytes -= CONTROL_HEAD + payload.length;
  }

  /**
   * A message is complete. If another one has begun in the same bytes, its count begins with the
   * following bytes.
   */
  takeMessage(): void {
    this.#bytes = 0;
  }

  /** All that has been added is read. */
  settle(): void {
    if (this.#bytes <= 0) return this.clear();
    const { maxBytes, timeoutMs, tooLarge, tooSlow } = this.#bounds;
    this.#timer ??= this.#timers.set(tooSlow, timeoutMs);
    if (this.#bytes < MAX_CONTROL_BYTES) this.#allBytes = this.#bytes;
    if (this.#allBytes > maxBytes + OVERHEAD_BYTES) tooLarge();
  }

  clear(): void {
    this.#bytes = 0;
    this.#allBytes = 0;
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = undefined;
  }
}
