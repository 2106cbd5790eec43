/**
 * What waits for the client of a web socket: a reply goes on only as fast as its client reads.
 */
import type { TimerId, Timers } from "../../gateway/timers.ts";

/** Bytes that may wait for the client before a reply waits. */
const MAX_WAITING_BYTES = 128 * 1024;
/** Beyond this, a client that only causes errors is cut off. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** The sending side of a web socket. */
export class Outbox {
  readonly #waitingBytes: () => number;
  readonly #timers: Timers;
  readonly #slowReaderMs: number;
  #waiters: ((hasRoom: boolean) => void)[] = [];
  #timer: TimerId | undefined;

  /**
   * `waitingBytes`: those that the system has not taken yet. `slowReaderMs`: how long it may take
   * none.
   */
  constructor(
    waitingBytes: () => number,
    timers: Timers,
    slowReaderMs: number,
  ) {
    this.#waitingBytes = waitingBytes;
    this.#timers = timers;
    this.#slowReaderMs = slowReaderMs;
  }

  /** Whether the client leaves too much unread, the last message not counted. */
  isOverfull(lastMessage: number): boolean {
    return this.#waitingBytes() > MAX_UNREAD_BYTES + lastMessage;
  }

  /** Whether a reply may send more now. */
  hasRoom(): boolean {
    return this.#waitingBytes() <= MAX_WAITING_BYTES;
  }

  /**
   * Resolves to true once a reply may send more, or the connection is closed; to false if the
   * client has read nothing for too long.
   */
  room(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#timer ??= this.#deadline();
    });
  }

  /** The system has taken bytes. */
  sent(): void {
    if (this.#waiters.length === 0) return;
    if (this.hasRoom()) return this.#wake(true);
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = this.#deadline();
  }

  closed(): void {
    this.#wake(true);
  }

  #deadline(): TimerId {
    return this.#timers.set(() => this.#wake(false), this.#slowReaderMs);
  }

  #wake(hasRoom: boolean): void {
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = undefined;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake(hasRoom);
  }
}
