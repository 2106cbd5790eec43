/**
 * Waits when a live target limits the rate of requests: the whole run waits as long as the target
 * asks, within bounds.
 */
import { type Exchange, headerOf } from "../evidence/exchange.ts";

/** The target kept limiting the rate: the missing evidence is not its fault, and is not judged. */
export class RateLimited extends Error {}

/** Longest single wait, whatever the target asks for. */
const LONGEST_WAIT_MS = 60_000;

export const ALL_WAITS_MS = 300_000;

/** Most repetitions of one request. */
const MOST_RETRIES = 6;

/** Shared by all scenarios of a run. */
export class RateLimitWait {
  readonly #now: () => number;
  #until = 0;
  #waitedMs = 0;

  /** `now` returns milliseconds since any fixed moment. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when no wait is pending any more. */
  async ready(): Promise<void> {
    for (;;) {
      const ms = this.#until - this.#now();
      if (ms <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }

  /**
   * Records a reply of status 429 to that attempt, counted from 0.
   * @throws {RateLimited} when the bound of this run or of this request is reached
   */
  limited(exchange: Exchange, attempt: number): void {
    const ms = Math.min(
      requestedWaitMs(exchange) ?? 1000 * 2 ** attempt,
      LONGEST_WAIT_MS,
    );
    const now = this.#now();
    const until = now + ms;
    // Requests that are limited at the same time share one wait.
    const more = Math.max(0, until - Math.max(this.#until, now));
    if (attempt >= MOST_RETRIES || this.#waitedMs + more > ALL_WAITS_MS) {
      throw new RateLimited(
        `the target limits the rate (429), even after ${
          Math.round(this.#waitedMs / 1000)
        } s of waiting`,
      );
    }
    this.#waitedMs += more;
    this.#until = Math.max(this.#until, until);
  }
}

/** How long a reply asks to wait, in milliseconds; undefined when it does not ask. */
export function requestedWaitMs(exchange: Exchange): number | undefined {
  const precise = Number(headerOf(exchange, "retry-after-ms") ?? "none");
  if (precise >= 0) return precise;
  const text = headerOf(exchange, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
