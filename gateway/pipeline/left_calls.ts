/**
 * Bounds the calls of a process whose client has left and whose upstream is read on: beyond the
 * bound, the upstream is cancelled at once.
 */

/** Part of the process's slots that calls without a client may hold, and of these one key. */
const SHARE = 4;
const SHARE_OF_KEY = 2;

/** The calls of one process whose client has left. */
export class LeftCalls {
  readonly #most: number;
  #total = 0;
  readonly #byKey = new Map<string, number>();

  /** @param slots of concurrent calls */
  constructor(slots: number) {
    this.#most = Math.max(1, Math.floor(slots / SHARE));
  }

  get count(): number {
    return this.#total;
  }

  /** Takes a place; the returned function gives it back, once. Undefined: there is none. */
  take(keyId: string): (() => void) | undefined {
    const own = this.#byKey.get(keyId) ?? 0;
    if (
      this.#total >= this.#most ||
      own >= Math.max(1, Math.floor(this.#most / SHARE_OF_KEY))
    ) return undefined;
    this.#total++;
    this.#byKey.set(keyId, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#total--;
      const rest = (this.#byKey.get(keyId) ?? 1) - 1;
      if (rest === 0) this.#byKey.delete(keyId);
      else this.#byKey.set(keyId, rest);
    };
  }
}
