/** How long a client waits: a reply that still moves gets more time than one that stands still. */

/** A reply may last so many times as long as it may stand still. */
const MOVING = 4;

/** Runs out when nothing has moved for the time, or when four times the time has passed in all. */
export class Patience {
  readonly #idleMs: number;
  readonly #runsOut: () => void;
  readonly #total: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout>;
  #over = false;

  /** Begins to wait. */
  constructor(idleMs: number, runsOut: () => void) {
    this.#idleMs = idleMs;
    this.#runsOut = runsOut;
    this.#idle = setTimeout(runsOut, idleMs);
    this.#total = setTimeout(runsOut, MOVING * idleMs);
  }

  /** Something arrived. */
  moved(): void {
    if (this.#over) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(this.#runsOut, this.#idleMs);
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }
}
