/**
 * How the lines of a day and model are billed otherwise than its charges, by their sums; for files
 * without a line per call.
 */
import type { Tokens } from "../accounts/charges/money.ts";
import type { LedgerEntry } from "../accounts/records.ts";
import { type BilledAs, billedCharge, billedOtherwise } from "./billed_as.ts";
import type { InvoiceLine } from "./invoice.ts";
import { NO_TOKENS } from "./invoice_values.ts";
import type { WorthOf } from "./match_calls.ts";

/** What differs, and the amount that it makes. */
export interface SumsOtherwise {
  /** At our prices, theirs minus ours, in 10⁻¹² dollars. */
  readonly picoUsd: bigint;
  /** Empty: nothing that both have differs. */
  readonly otherwise: readonly string[];
}

/** Compares the sums of what the file has. */
export function otherwiseOf(
  charges: readonly LedgerEntry[],
  lines: readonly InvoiceLine[],
  worthOf: WorthOf,
): SumsOtherwise {
  const reported = new Set(
    lines.flatMap(({ billed }) => Object.keys(billed) as (keyof BilledAs)[]),
  );
  if (reported.size === 0 || charges.length === 0) {
    return { picoUsd: 0n, otherwise: [] };
  }
  const ours = new Sums(worthOf, reported);
  const theirs = new Sums(worthOf, reported);
  for (const charge of charges) {
    ours.add(
      {
        input: charge.inputTokens,
        cacheRead: charge.cacheReadTokens,
        cacheWrite: charge.cacheWriteTokens,
        output: charge.outputTokens,
      },
      billedCharge(charge),
      1,
    );
  }
  for (const { tokens = NO_TOKENS, billed, count } of lines) {
    theirs.add(tokens, billed, count);
  }
  return {
    picoUsd: theirs.picoUsd - ours.picoUsd,
    otherwise: billedOtherwise(ours.billed(), theirs.billed()),
  };
}

const DIMENSIONS = ["tier", "speed", "region"] as const;

/** What lines or charges add up to, as far as the file has it. */
class Sums {
  /** What they cost beyond the base rates. */
  picoUsd = 0n;
  readonly #worthOf: WorthOf;
  readonly #reported: ReadonlySet<keyof BilledAs>;
  #cacheWrite1h = 0;
  #webSearches = 0;
  /** Tokens by value. */
  readonly #values = new Map(
    DIMENSIONS.map((name) => [name, new Map<string, number>()]),
  );

  constructor(worthOf: WorthOf, reported: ReadonlySet<keyof BilledAs>) {
    this.#worthOf = worthOf;
    this.#reported = reported;
  }

  add(tokens: Tokens, all: BilledAs, times: number): void {
    const billed: BilledAs = Object.fromEntries(
      Object.entries(all).filter(([name]) =>
        this.#reported.has(name as keyof BilledAs)
      ),
    );
    this.picoUsd += BigInt(times) *
      (this.#worthOf(tokens, billed) - this.#worthOf(tokens, {}));
    this.#cacheWrite1h += times * (billed.cacheWrite1h ?? 0);
    this.#webSearches += times * (billed.webSearches ?? 0);
    const { input, cacheRead, cacheWrite, output } = tokens;
    const size = times * (input + cacheRead + cacheWrite + output);
    for (const name of DIMENSIONS) {
      const value = billed[name];
      const sums = this.#values.get(name);
      if (value === undefined || sums === undefined) continue;
      sums.set(value, (sums.get(value) ?? 0) + size);
    }
  }

  /** The sums in words; of a dimension with several values, the tokens of each. */
  billed(): BilledAs {
    const values = DIMENSIONS.flatMap((name) => {
      const sums = [...this.#values.get(name) ?? []].toSorted(([a], [b]) =>
        a < b ? -1 : 1
      );
      const [first] = sums;
      if (first === undefined) return [];
      return [[
        name,
        sums.length === 1
          ? first[0]
          : sums.map(([value, size]) =>
            `${value === "" ? "standard" : value} for ${size} tokens`
          ).join(" and "),
      ]];
    });
    return {
      ...(this.#reported.has("cacheWrite1h")
        ? { cacheWrite1h: this.#cacheWrite1h }
        : {}),
      ...(this.#reported.has("webSearches")
        ? { webSearches: this.#webSearches }
        : {}),
      ...Object.fromEntries(values),
    };
  }
}
