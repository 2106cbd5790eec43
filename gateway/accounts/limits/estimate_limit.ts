/**
 * Refuses calls of a key whose charges are estimates for the larger part, where its plan has a
 * limit of that: clients that leave before the vendor reports what their calls used.
 */
import { RefusedCall } from "../accounts.ts";
import { estimatedOfKey } from "../reports/estimated_keys.ts";
import { usdText } from "../charges/money.ts";
import { orUnavailable } from "../repositories/repository.ts";
import type { Store } from "../store/store.ts";
import { MAX_RETRY_MS } from "./exceeded_limit.ts";
import { DAY_MS, dayAfter, dayOf, dayText } from "./calendar_window.ts";

/** How long what was read of a key is taken to hold. */
const FRESH_MS = 10_000;
const MAX_KEYS = 10_000;

interface Known {
  readonly atMs: number;
  readonly spent: ReturnType<typeof estimatedOfKey>;
}

/** The limit as one process applies it. */
export class EstimateLimit {
  readonly #store: Pick<Store, "read">;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  constructor(store: Pick<Store, "read">, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Checks a key against the percentage of its plan, by what it spent until some seconds ago.
   *
   * @throws {ApiError} `rate_limit` above the limit; `unavailable`
   */
  async assertBelow(
    keyId: string,
    estimatedPercent: number,
  ): Promise<void> {
    const nowMs = this.#now();
    const spent = await this.#spent(keyId, nowMs);
    if (
      spent === undefined ||
      spent.estimatedMicroUsd * 100 <= spent.microUsd * estimatedPercent
    ) return;
    const opensOn = dayAfter("day", dayOf(nowMs));
    throw new RefusedCall(
      "rate_limit",
      `more than ${estimatedPercent} % of what this key spent today is estimated (${
        usdText(spent.estimatedMicroUsd)
      } of ${
        usdText(spent.microUsd)
      }), because its clients leave before the vendor reports what their calls used; it can call again on ${
        dayText(opensOn)
      }`,
      {
        code: "estimated_share",
        retryable: false,
        retryAfterSeconds: Math.ceil(
          Math.min(MAX_RETRY_MS, opensOn * DAY_MS - nowMs) / 1000,
        ),
      },
      {},
    );
  }

  #spent(keyId: string, nowMs: number): Known["spent"] {
    const known = this.#known.get(keyId);
    if (known !== undefined && Math.abs(nowMs - known.atMs) < FRESH_MS) {
      return known.spent;
    }
    if (this.#known.size >= MAX_KEYS) this.#known.clear();
    const spent = estimatedOfKey(
      {
        all: (text, values) =>
          orUnavailable(() => this.#store.read(text, values)),
      },
      keyId,
      nowMs,
    );
    this.#known.set(keyId, { atMs: nowMs, spent });
    spent.catch(() => this.#known.delete(keyId));
    return spent;
  }
}
