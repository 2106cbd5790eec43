/**
 * Money in whole micro-dollars, and the cost of tokens at the four base rates. Every amount is
 * rounded up once per request. `charge_lines.ts` has the cost at a whole rate card.
 */

/** Base rates of a model, in micro-dollars per million tokens: 3 dollars are 3,000,000. */
export interface ModelPrice {
  /** Prompt tokens at the full rate. */
  readonly input: number;
  /** Prompt tokens read from a cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWrite: number;
  /** Generated tokens. */
  readonly output: number;
}

/** The base rates of a card, with its version, as each reservation and ledger entry stores them. */
export interface StoredPrice extends ModelPrice {
  /** Absent: the card has none. */
  readonly version?: string;
}

/**
 * Billed tokens of one request. A count that was not reported is 0 here; {@linkcode Charge}
 * marks it as estimated.
 */
export interface Tokens {
  /** Prompt tokens at the full rate. */
  readonly input: number;
  /** Prompt tokens read from a cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWrite: number;
  /** Generated tokens, reasoning included. */
  readonly output: number;
}

const MILLION = 1_000_000n;

/** Cost of tokens at the base rates; exact for any quantity. */
export function costMicroUsd(price: ModelPrice, tokens: Tokens): number {
  const small = tokens.input * price.input +
    tokens.cacheRead * price.cacheRead +
    tokens.cacheWrite * price.cacheWrite + tokens.output * price.output;
  // Up to this sum every term is exact as a double.
  if (small <= Number.MAX_SAFE_INTEGER) {
    const rest = small % 1_000_000;
    return (small - rest) / 1_000_000 + (rest === 0 ? 0 : 1);
  }
  return microUsdOf(
    BigInt(tokens.input) * BigInt(price.input) +
      BigInt(tokens.cacheRead) * BigInt(price.cacheRead) +
      BigInt(tokens.cacheWrite) * BigInt(price.cacheWrite) +
      BigInt(tokens.output) * BigInt(price.output),
  );
}

/** A sum of 10⁻¹² dollars in micro-dollars, rounded up: the amount that is charged. */
export function microUsdOf(picoUsd: bigint): number {
  // Division cuts towards zero, which rounds the amount of a correction up.
  return Number((picoUsd > 0n ? picoUsd + MILLION - 1n : picoUsd) / MILLION);
}

/**
 * A price as stored with each reservation and ledger entry: input/cache read/cache write/output,
 * and `@` with the card's version, if it has one.
 */
export function priceText(price: StoredPrice): string {
  const rates =
    `${price.input}/${price.cacheRead}/${price.cacheWrite}/${price.output}`;
  return price.version === undefined ? rates : `${rates}@${price.version}`;
}

/**
 * Parses the output of {@linkcode priceText}.
 *
 * @throws {Error} for any other text
 */
export function parsePrice(text: string): StoredPrice {
  const match = /^(\d+)\/(\d+)\/(\d+)\/(\d+)(?:@(.+))?$/.exec(text);
  if (match === null) throw new Error(`could not read the price: ${text}`);
  return {
    input: Number(match[1]),
    cacheRead: Number(match[2]),
    cacheWrite: Number(match[3]),
    output: Number(match[4]),
    ...(match[5] === undefined ? {} : { version: match[5] }),
  };
}

/** An amount for display: `$12.50`, `-$0.000123`. At least two decimals, at most six. */
export function usdText(microUsd: number): string {
  const sign = microUsd < 0 ? "-" : "";
  const digits = Math.abs(microUsd).toString().padStart(7, "0");
  const whole = digits.slice(0, -6);
  const part = digits.slice(-6).replace(/0{1,4}$/, "");
  return `${sign}$${whole}.${part}`;
}

/** An amount as a form and a file have it: `12.5`. */
export function dollarsText(microUsd: number): string {
  const text = String(Math.abs(microUsd)).padStart(7, "0");
  const part = text.slice(-6).replace(/0+$/, "");
  return `${microUsd < 0 ? "-" : ""}${text.slice(0, -6)}${
    part === "" ? "" : `.${part}`
  }`;
}
