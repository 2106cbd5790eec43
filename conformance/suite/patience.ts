/** How a live run meets a target that limits the rate of requests: all of it waits as it is told to, and not for ever. */
import { headerOf } from "../evidence/exchange.ts";
import type { Exchange } from "../evidence/exchange.ts";

/** The target went on limiting the rate: what is missing is not its fault, and is not judged. */
export class RateLimited extends Error {}

/** A single wait, whatever is asked for. */
const LONGEST_WAIT_MS = 60_000;

/** All waits of a run together. */
export const ALL_WAITS_MS = 300_000;

/** One request is made again so often. */
const MOST_RETRIES = 6;

/** Shared by all scenarios of a run. */
export class Patience {
  readonly #now: () => number;
  #until = 0;
  #waitedMs = 0;

  /** `now` gives milliseconds since any moment. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Settles when no wait is asked for any more. */
  async ready(): Promise<void> {
    for (;;) {
      const ms = this.#until - this.#now();
      if (ms <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }

  /**
   * Notes a reply of status 429 to the attempt of that number, counted from 0.
   * @throws {RateLimited} when enough was waited, in this run or for this request
   */
  limited(exchange: Exchange, attempt: number): void {
    const ms = Math.min(
      waitAskedMs(exchange) ?? 1000 * 2 ** attempt,
      LONGEST_WAIT_MS,
    );
    const now = this.#now();
    const until = now + ms;
    // Requests that are limited together wait together.
    const more = Math.max(0, until - Math.max(this.#until, now));
    if (attempt >= MOST_RETRIES || this.#waitedMs + more > ALL_WAITS_MS) {
      throw new RateLimited(
        `the target limits the rate (429), also after ${
          Math.round(this.#waitedMs / 1000)
        } s of waiting`,
      );
    }
    this.#waitedMs += more;
    this.#until = Math.max(this.#until, until);
  }
}

/** How long a reply asks to wait, in milliseconds; undefined when it does not say. */
export function waitAskedMs(exchange: Exchange): number | undefined {
  const precise = Number(headerOf(exchange, "retry-after-ms") ?? "none");
  if (precise >= 0) return precise;
  const text = headerOf(exchange, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
