/**
 * Notices that a client is gone although its connection stays open: it is pinged after some
 * silence.
 */
import type { TimerId, Timers } from "../../gateway/timers.ts";

/** What is done about a silent client. */
interface SilenceHandlers {
  readonly ping: () => void;
  /** It did not answer. */
  readonly gone: () => void;
}

/** Watches for silence. */
export class Heartbeat {
  readonly #halfMs: number;
  readonly #timers: Timers;
  readonly #handlers: SilenceHandlers;
  #heardMs = performance.now();
  #hasPinged = false;
  #timer: TimerId;

  /** `idleMs`: half of it until the ping, and half for an answer. */
  constructor(idleMs: number, timers: Timers, handlers: SilenceHandlers) {
    this.#halfMs = idleMs / 2;
    this.#timers = timers;
    this.#handlers = handlers;
    this.#timer = this.#lookIn(this.#halfMs);
  }

  /** The client has sent something. */
  heard(): void {
    this.#heardMs = performance.now();
    this.#hasPinged = false;
  }

  /** The connection is closed. */
  stop(): void {
    this.#timers.clear(this.#timer);
  }

  #lookIn(ms: number): TimerId {
    return this.#timers.set(() => this.#look(), ms);
  }

  #look(): void {
    const silentMs = performance.now() - this.#heardMs;
    if (!this.#hasPinged && silentMs < this.#halfMs) {
      this.#timer = this.#lookIn(this.#halfMs - silentMs);
      return;
    }
    if (this.#hasPinged) return this.#handlers.gone();
    this.#hasPinged = true;
    this.#handlers.ping();
    this.#timer = this.#lookIn(this.#halfMs);
  }
}
