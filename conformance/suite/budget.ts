/**
 * Hard caps on the cost of a run. Each call is checked against them first, so that none can exceed
 * them.
 */

/** The most that a request can cost. */
export interface Cost {
  readonly requests: number;
  /** Input tokens that a model may bill; 0 for a request that reaches no model. */
  readonly inputTokens: number;
  /** Output tokens that a model may bill. */
  readonly outputTokens: number;
}

/** The caps; an absent one means no limit. */
interface Caps {
  readonly requests?: number;
  readonly outputTokens?: number;
  /** Dollars, at the prices below. */
  readonly usd?: number;
}

/**
 * Prices above those of all known models, in dollars per million tokens, since the suite does not
 * know the target's prices.
 */
const USD_PER_MILLION = { input: 15, output: 75 } as const;

/** Thrown instead of sending a request that would exceed a cap. */
export class CapReached extends Error {}

export function usdOf(cost: Cost): number {
  return (cost.inputTokens * USD_PER_MILLION.input +
    cost.outputTokens * USD_PER_MILLION.output) / 1_000_000;
}

export function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce((sum, cost) => ({
    requests: sum.requests + cost.requests,
    inputTokens: sum.inputTokens + cost.inputTokens,
    outputTokens: sum.outputTokens + cost.outputTokens,
  }), { requests: 0, inputTokens: 0, outputTokens: 0 });
}

export class Budget {
  readonly #caps: Caps;
  #spent: Cost = { requests: 0, inputTokens: 0, outputTokens: 0 };

  /** Starts at zero. */
  constructor(caps: Caps) {
    this.#caps = caps;
  }

  /** Upper bound of the cost so far. */
  get spent(): Cost {
    return this.#spent;
  }

  /**
   * Adds the cost of a call before it is made.
   * @throws {CapReached} when it would exceed a cap; then nothing is added
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
