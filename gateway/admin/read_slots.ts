/**
 * Limits what is read of the store at the same time, apart from the slots of calls: a report or a
 * file reads very much, and a key may ask for as many as it likes.
 */
import { ApiError } from "../../translate/model/error.ts";

/** Slots that one credential can take at a time. */
const PER_CREDENTIAL = 4;
/** Most seconds after which a refused credential may ask again. */
const MAX_RETRY_SECONDS = 10;

/** Slots of one process for reports, or for files. */
export class ReadSlots {
  readonly #running = new Map<string, number>();
  readonly #what: "reports" | "files";
  readonly #most: number;
  #total = 0;
  /** Refusals of the present second, by credential. */
  readonly #refused = new Map<string, number>();
  #second = 0;

  /** @param most of all credentials of this process at a time */
  constructor(what: "reports" | "files", most: number) {
    this.#what = what;
    this.#most = most;
  }

  /**
   * Reads a report of a credential.
   *
   * @throws {ApiError} as {@linkcode ReadSlots.take}
   */
  async run<T>(credential: string, read: () => T | Promise<T>): Promise<T> {
    const release = this.take(credential);
    try {
      return await read();
    } finally {
      release();
    }
  }

  /**
   * Takes a slot; the returned function gives it back, once.
   *
   * @throws {ApiError} `rate_limit` if too many are taken
   */
  take(credential: string): () => void {
    const own = this.#running.get(credential) ?? 0;
    if (own >= PER_CREDENTIAL) {
      throw this.#refusal(
        credential,
        `this credential is reading ${own} ${this.#what}`,
      );
    }
    if (this.#total >= this.#most) {
      throw this.#refusal(
        credential,
        `the gateway has reached its limit of ${this.#what} at a time`,
      );
    }
    this.#running.set(credential, own + 1);
    this.#total++;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#total--;
      const left = (this.#running.get(credential) ?? 1) - 1;
      if (left === 0) this.#running.delete(credential);
      else this.#running.set(credential, left);
    };
  }

  #refusal(credential: string, problem: string): ApiError {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#refused.clear();
    this.#second = second;
    const before = this.#refused.get(credential) ?? 0;
    this.#refused.set(credential, before + 1);
    return new ApiError("rate_limit", `${problem}; try again`, {
      code: `concurrent_${this.#what}`,
      retryAfterSeconds: retrySeconds(before),
    });
  }
}

/** A second; after many refusals at a time up to ten, so that clients do not return together. */
function retrySeconds(refused: number): number {
  const further = Math.min(
    MAX_RETRY_SECONDS,
    1 + Math.floor(refused / PER_CREDENTIAL),
  );
  return 1 + Math.floor(Math.random() * further);
}
