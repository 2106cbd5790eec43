/**
 * How fast each candidate generates: measured from replies that were read to their end, to estimate
 * what a reply without figures had generated. In constant memory, for this process.
 */

/** Tokens and the time in which they were generated. */
export interface OutputSample {
  readonly tokens: number;
  readonly ms: number;
}

/** The newest samples decide, so that the rate follows the upstream. */
const MAX_SAMPLES = 5;
/** In a shorter time the network's delay counts more than the upstream's speed. */
const MIN_SAMPLE_MS = 250;
/** Kinds of a candidate: whether a reply was whole, and the efforts, are few. */
const MAX_KINDS = 32;
/** A usual speed of large models, in tokens a second, and their delay before. */
const USUAL_RATE = 60;
const USUAL_DELAY_MS = 1_000;

/** The measured rates of one process. */
export class OutputRates {
  /** Tokens a millisecond by candidate and kind, the newest last. */
  readonly #byCandidate = new Map<string, Map<string, number[]>>();

  /**
   * Adds a sample of a candidate.
   *
   * @param kind what the samples are kept apart by, such as the effort that was asked for
   */
  add(candidate: string, kind: string, { tokens, ms }: OutputSample): void {
    if (ms < MIN_SAMPLE_MS) return;
    let kinds = this.#byCandidate.get(candidate);
    if (kinds === undefined) {
      this.#byCandidate.set(candidate, kinds = new Map());
    }
    let rates = kinds.get(kind);
    if (rates === undefined) {
      if (kinds.size >= MAX_KINDS) return;
      kinds.set(kind, rates = []);
    }
    rates.push(tokens / ms);
    if (rates.length > MAX_SAMPLES) rates.shift();
  }

  /** Tokens of a time, by the median of the newest samples; undefined if there are none. */
  tokens(candidate: string, kind: string, ms: number): number | undefined {
    const rates = this.#byCandidate.get(candidate)?.get(kind);
    const median = rates?.toSorted((a, b) => a - b)[rates.length >> 1];
    return median === undefined ? undefined : Math.round(ms * median);
  }
}

/** Tokens of a time at an upstream that was not measured. */
export function usualTokens(ms: number): number {
  return Math.round(Math.max(0, ms - USUAL_DELAY_MS) * USUAL_RATE / 1000);
}
