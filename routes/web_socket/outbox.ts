/**
 * Sends messages through a web socket no faster than its client reads them. The platform queues
 * what it cannot send and has no event for a queue that has shrunk, so its size is read again and
 * again.
 *
 * @module
 */
import type { TimerId, Timers } from "../../gateway/timers.ts";

/** Bytes that may wait for the client before a reply waits. */
const MAX_WAITING_BYTES = 128 * 1024;
/** Beyond this, a client that only causes errors is cut off. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const FIRST_LOOK_MS = 2;
const SLOWEST_LOOK_MS = 100;

/** The sending side of a web socket. */
export class Outbox {
  readonly #socket: Pick<WebSocket, "send" | "readyState" | "bufferedAmount">;
  readonly #timers: Timers;
  readonly #slowReaderMs: number;

  /** `slowReaderMs`: how long a client may read nothing. */
  constructor(
    socket: Pick<WebSocket, "send" | "readyState" | "bufferedAmount">,
    timers: Timers,
    slowReaderMs: number,
  ) {
    this.#socket = socket;
    this.#timers = timers;
    this.#slowReaderMs = slowReaderMs;
  }

  /** Sends a message; returns false if the client leaves too much unread. */
  send(text: string): boolean {
    if (!this.#isOpen()) return true;
    this.#socket.send(text);
    return this.#socket.bufferedAmount <= MAX_UNREAD_BYTES + text.length;
  }

  /**
   * Resolves once a reply may send more. Resolves to false if the client has read nothing for too
   * long.
   */
  async hasRoom(): Promise<boolean> {
    let waiting = this.#socket.bufferedAmount;
    let sinceMs = performance.now();
    for (let ms = FIRST_LOOK_MS; this.#isOpen();) {
      const left = this.#socket.bufferedAmount;
      if (left <= MAX_WAITING_BYTES) return true;
      const nowMs = performance.now();
      if (left < waiting) [waiting, sinceMs] = [left, nowMs];
      if (nowMs - sinceMs >= this.#slowReaderMs) return false;
      await this.#pause(ms);
      ms = Math.min(2 * ms, SLOWEST_LOOK_MS);
    }
    return true;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve): TimerId => this.#timers.set(resolve, ms));
  }
}
