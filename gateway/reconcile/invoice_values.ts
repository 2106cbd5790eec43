/**
 * The values in a vendor's export: amounts, counts and days. Amounts are exact, in 10⁻¹² dollars.
 */
import type { Tokens } from "../accounts/charges/money.ts";

/** No tokens of any kind. */
export const NO_TOKENS: Tokens = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
};

export interface BilledAmount {
  /** Whole 10⁻¹² dollars. */
  readonly picoUsd: bigint;
  /** Half a unit of its last decimal: by so much the vendor may have rounded it. */
  readonly roundedBy: bigint;
}

const PICO_DIGITS = 12;

/**
 * Parses an amount in units of 10^(digits − 12) dollars: 12 digits are dollars, 10 cents, 6
 * micro-dollars.
 * Undefined for any other text.
 */
export function amountOf(
  text: string,
  digits: 12 | 10 | 6,
): BilledAmount | undefined {
  const match =
    /^(-?)\$?(\d{1,15}|\d{1,3}(?:,\d{3})+)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/
      .exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", part = "", exponent = "0"] = match;
  if (whole === "" && part === "") return undefined;
  const power = digits - part.length + Number(exponent);
  const units = BigInt(whole.replaceAll(",", "") + part);
  const scale = 10n ** BigInt(Math.abs(power));
  const picoUsd = power >= 0 ? units * scale : units / scale;
  return {
    picoUsd: sign === "-" ? -picoUsd : picoUsd,
    roundedBy: part === "" || power < 0 || part.length >= PICO_DIGITS
      ? 1n
      : scale / 2n,
  };
}

/** Parses a count of tokens; undefined for anything but a whole number. */
export function tokenCount(text: string): number | undefined {
  return /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.0*)?$/.test(text)
    ? Number(text.replaceAll(",", ""))
    : undefined;
}

/**
 * The UTC day of a date, a timestamp, or seconds since 1970; undefined for any other text. A time
 * without a zone is UTC.
 */
export function dayIn(text: string): string | undefined {
  if (/^\d{10}$/.test(text)) {
    return new Date(Number(text) * 1000).toISOString().slice(0, 10);
  }
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?$/
      .exec(text);
  if (match === null) return undefined;
  const [, day = "", clock = "00:00", zone = "Z"] = match;
  const offset = zone === "UTC"
    ? "Z"
    : zone.length === 3
    ? `${zone}:00`
    : zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  const ms = Date.parse(`${day}T${clock}${offset}`);
  if (Number.isNaN(ms)) return undefined;
  // Date.parse accepts the 31st of every month.
  const exact = new Date(Date.parse(`${day}T00:00:00Z`)).toISOString();
  return exact.startsWith(day)
    ? new Date(ms).toISOString().slice(0, 10)
    : undefined;
}

/** Which tokens a line is about; undefined if the text names none. */
export function tokenKind(text: string): keyof Tokens | undefined {
  const plain = text.toLowerCase();
  const at = plain.indexOf("cache");
  const cache = at < 0 ? "" : plain.slice(at);
  if (/read|hit|cached/.test(cache)) return "cacheRead";
  if (/writ|creat/.test(cache)) return "cacheWrite";
  if (/output|completion/.test(plain)) return "output";
  return /input|prompt/.test(plain) ? "input" : undefined;
}

const KINDS: readonly (keyof Tokens)[] = [
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
];

/** `a` and `times` times `b`. */
export function plus(a: Tokens, b: Tokens, times: number = 1): Tokens {
  return {
    input: a.input + b.input * times,
    cacheRead: a.cacheRead + b.cacheRead * times,
    cacheWrite: a.cacheWrite + b.cacheWrite * times,
    output: a.output + b.output * times,
  };
}

/** Whether `a` has as many tokens as `b` of each kind that `line` has, and `line` has any. */
export function covers(a: Tokens, b: Tokens, line: Tokens): boolean {
  const kinds = KINDS.filter((kind) => line[kind] > 0);
  return kinds.length > 0 && kinds.every((kind) => a[kind] >= b[kind]);
}

/** Tokens times prices, per kind, in 10⁻¹² dollars. */
export function worths(tokens: Tokens, price: Tokens): readonly bigint[] {
  return KINDS.map((kind) => BigInt(tokens[kind]) * BigInt(price[kind]));
}

/** The same tokens as a text. */
export function tokensText(tokens: Tokens): string {
  return KINDS.map((kind) => tokens[kind]).join("/");
}
