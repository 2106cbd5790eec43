/** Client timeouts: a reply that still arrives gets more time than one that has stalled. */

/** Longest duration of a reply, as a multiple of the longest time without a new piece. */
const MOVING = 4;

/** Runs out when nothing arrives for the idle time, or after four times the idle time in all. */
export class IdleTimeout {
  readonly #idleMs: number;
  readonly #runsOut: () => void;
  readonly #total: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout>;
  #over = false;

  constructor(idleMs: number, runsOut: () => void) {
    this.#idleMs = idleMs;
    this.#runsOut = runsOut;
    this.#idle = setTimeout(runsOut, idleMs);
    this.#total = setTimeout(runsOut, MOVING * idleMs);
  }

  restart(): void {
    if (this.#over) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(this.#runsOut, this.#idleMs);
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }
}
