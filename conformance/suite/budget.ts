/** Hard caps on what a run may send. They are asked before each call, so that no call can go beyond them. */

/** What a request may cost at most. */
export interface Cost {
  /** HTTP requests. */
  readonly requests: number;
  /** Input tokens that a model may bill; 0 for a request that no model sees. */
  readonly inputTokens: number;
  /** Output tokens that a model may bill. */
  readonly outputTokens: number;
}

/** The caps; absent means none. */
export interface Caps {
  /** Requests. */
  readonly requests?: number;
  /** Output tokens. */
  readonly outputTokens?: number;
  /** Dollars, at the prices below. */
  readonly usd?: number;
}

/** Prices that no listed model exceeds, in dollars per million tokens: the suite does not know the target's own. */
const USD_PER_MILLION = { input: 15, output: 75 } as const;

/** Thrown in place of a request that would exceed a cap. */
export class CapReached extends Error {}

/** An upper bound of the price. */
export function usdOf(cost: Cost): number {
  return (cost.inputTokens * USD_PER_MILLION.input +
    cost.outputTokens * USD_PER_MILLION.output) / 1_000_000;
}

/** Adds costs up. */
export function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce((sum, cost) => ({
    requests: sum.requests + cost.requests,
    inputTokens: sum.inputTokens + cost.inputTokens,
    outputTokens: sum.outputTokens + cost.outputTokens,
  }), { requests: 0, inputTokens: 0, outputTokens: 0 });
}

/** Counts what a run has spent. */
export class Budget {
  readonly #caps: Caps;
  #spent: Cost = { requests: 0, inputTokens: 0, outputTokens: 0 };

  /** Starts with nothing spent. */
  constructor(caps: Caps) {
    this.#caps = caps;
  }

  /** What was spent so far, at most. */
  get spent(): Cost {
    return this.#spent;
  }

  /**
   * Takes the cost of a call that is about to be made.
   * @throws {CapReached} when it would exceed a cap; then nothing is taken
   */
  take(cost: Cost): void {
    const next = sumOf([this.#spent, cost]);
    const { requests, outputTokens, usd } = this.#caps;
    if (requests !== undefined && next.requests > requests) {
      throw new CapReached(`the cap of ${requests} requests was reached`);
    }
    if (outputTokens !== undefined && next.outputTokens > outputTokens) {
      throw new CapReached(
        `the cap of ${outputTokens} output tokens was reached`,
      );
    }
    if (usd !== undefined && usdOf(next) > usd) {
      throw new CapReached(`the cap of ${usd} dollars was reached`);
    }
    this.#spent = next;
  }
}
