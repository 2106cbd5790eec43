/**
 * Compares a vendor's export that has a line per call with the charges of the ledger: which call
 * has no line, which line has no call, which is there twice, which has another price.
 */
import type { LedgerEntry } from "../accounts/records.ts";
import type { Tokens } from "../accounts/charges/money.ts";
import { type BilledAs, billedCharge, billedOtherwise } from "./billed_as.ts";
import { type Causes, NO_CAUSES, PICO_PER_MICRO } from "./causes.ts";
import type { InvoiceLine } from "./invoice.ts";
import { tokensText } from "./invoice_values.ts";

/** A line, a call, or a pair of both that makes a difference. */
export interface Finding {
  readonly cause: keyof Causes;
  /** Number of the line in the file; absent: the file has none. */
  readonly line?: number;
  /** The call in the ledger; absent: the ledger has none. */
  readonly requestId?: string;
  readonly tokens?: Tokens;
  /**
   * The properties that the line is billed by and the call is not, see `billed_as.ts`; empty for
   * other causes.
   */
  readonly otherwise?: readonly string[];
  /** What it adds to the difference. */
  readonly picoUsd: bigint;
}

/** A difference that is split by calls. */
interface CallSplit {
  readonly causes: Causes;
  readonly findings: readonly Finding[];
}

/** A line of the file, one of its repetitions. */
interface Copy {
  readonly line: InvoiceLine;
  /** 0 for the first. */
  readonly at: number;
  readonly tokens: Tokens;
  readonly picoUsd: bigint;
}

/**
 * What tokens cost when they are billed so, in 10⁻¹² dollars; what is absent is at the base rate.
 */
export type WorthOf = (tokens: Tokens, billed: BilledAs) => bigint;

/**
 * Pairs lines with charges of the same tokens. Undefined if fewer than half of the charges find a
 * line: the file has no line per call.
 */
export function matchCalls(
  charges: readonly LedgerEntry[],
  lines: readonly InvoiceLine[],
  worthOf: WorthOf,
): CallSplit | undefined {
  const open = new Map<string, LedgerEntry[]>();
  for (const charge of charges) {
    const place = tokensText(tokensOf(charge));
    const same = open.get(place);
    if (same === undefined) open.set(place, [charge]);
    else same.push(charge);
  }
  const causes: Record<keyof Causes, bigint> = { ...NO_CAUSES };
  const findings: Finding[] = [];
  const add = (finding: Finding): void => {
    causes[finding.cause] += finding.picoUsd;
    // A call that failed costs nothing, and no vendor bills it.
    const isNothing = finding.picoUsd === 0n && finding.otherwise === undefined;
    if (finding.cause !== "rounding" && !isNothing) findings.push(finding);
  };
  const unpaired: Copy[] = [];
  let paired = 0;
  const pair = (copy: Copy, charge: LedgerEntry): void => {
    const { line: { line, amount, billed }, tokens } = copy;
    paired++;
    const own = billedCharge(charge);
    const otherwise = billedOtherwise(own, billed);
    const picoUsd = amount === undefined
      ? worthOf(tokens, { ...own, ...billed }) - worthOf(tokens, own)
      : amount.picoUsd - costOf(charge);
    const allowed = allowedOf(copy.line);
    add({
      cause: otherwise.length > 0
        ? "billedOtherwise"
        : picoUsd <= allowed && picoUsd >= -allowed
        ? "rounding"
        : "priceChanged",
      line,
      requestId: charge.requestId,
      tokens,
      ...(otherwise.length === 0 ? {} : { otherwise }),
      picoUsd,
    });
  };
  for (const level of copies(lines, worthOf)) {
    const inexact: Copy[] = [];
    // A line takes a call that agrees in everything before another one takes it for its tokens.
    for (const copy of level) {
      const same = open.get(tokensText(copy.tokens)) ?? [];
      const charge = takeExact(same, copy.line);
      if (charge === undefined) inexact.push(copy);
      else pair(copy, charge);
    }
    for (const copy of inexact) {
      const same = open.get(tokensText(copy.tokens)) ?? [];
      const charge = takeFrom(same, copy.line.billed);
      if (charge === undefined) unpaired.push(copy);
      else pair(copy, charge);
    }
  }
  if (paired * 2 < charges.length) return undefined;
  const left = [...open.values()].flat();
  const estimated = left.filter((charge) => charge.estimated);
  for (const copy of unpaired) {
    const { line: { line }, tokens } = copy;
    if (copy.at > 0) {
      add({ cause: "doubled", line, tokens, picoUsd: copy.picoUsd });
      continue;
    }
    const charge = estimated.shift();
    add(
      charge === undefined
        ? { cause: "oursMissing", line, tokens, picoUsd: copy.picoUsd }
        : {
          cause: "oursEstimated",
          line,
          tokens,
          requestId: charge.requestId,
          picoUsd: copy.picoUsd - costOf(charge),
        },
    );
  }
  const alone = new Set(estimated);
  for (const charge of left) {
    if (charge.estimated && !alone.has(charge)) continue;
    add({
      cause: "theirsMissing",
      requestId: charge.requestId,
      tokens: tokensOf(charge),
      picoUsd: -costOf(charge),
    });
  }
  return { causes, findings };
}

/** Charges of one size among which the one that is billed like the line is looked for. */
const MAX_LOOKED_AT = 100;

/**
 * Takes a charge of the line's size: the first that is billed as the line is, or else the first.
 */
function takeFrom(
  charges: LedgerEntry[],
  billed: BilledAs,
): LedgerEntry | undefined {
  const at = charges.slice(0, MAX_LOOKED_AT).findIndex((charge) =>
    billedOtherwise(billedCharge(charge), billed).length === 0
  );
  return charges.splice(Math.max(at, 0), 1)[0];
}

/**
 * Takes a charge that is billed as the line is, at its amount; of several one of the model that the
 * line names.
 */
function takeExact(
  charges: LedgerEntry[],
  line: InvoiceLine,
): LedgerEntry | undefined {
  const { amount, billed, model } = line;
  let found = -1;
  for (const [at, charge] of charges.slice(0, MAX_LOOKED_AT).entries()) {
    const off = amount === undefined ? 0n : amount.picoUsd - costOf(charge);
    const isExact = off <= allowedOf(line) && -off <= allowedOf(line) &&
      billedOtherwise(billedCharge(charge), billed).length === 0;
    if (!isExact) continue;
    if (charge.model === model) return charges.splice(at, 1)[0];
    if (found < 0) found = at;
  }
  return found < 0 ? undefined : charges.splice(found, 1)[0];
}

/** What rounding alone can make of an amount. */
export function allowedOf({ amount }: InvoiceLine): bigint {
  return PICO_PER_MICRO + (amount?.roundedBy ?? 0n);
}

/**
 * Yields the first copies of all lines, then the second ones: a repeated line counts as doubled
 * only if no charge is left for it.
 */
function* copies(
  lines: readonly InvoiceLine[],
  worthOf: WorthOf,
): Generator<readonly Copy[], void, void> {
  const most = lines.reduce((max, { count }) => Math.max(max, count), 0);
  for (let at = 0; at < most; at++) {
    yield lines.flatMap((line): readonly Copy[] => {
      const { tokens, amount, count, billed } = line;
      return at >= count || tokens === undefined ? [] : [{
        line,
        at,
        tokens,
        picoUsd: amount?.picoUsd ?? worthOf(tokens, billed),
      }];
    });
  }
}

function tokensOf(charge: LedgerEntry): Tokens {
  return {
    input: charge.inputTokens,
    cacheRead: charge.cacheReadTokens,
    cacheWrite: charge.cacheWriteTokens,
    output: charge.outputTokens,
  };
}

function costOf({ microUsd }: LedgerEntry): bigint {
  return BigInt(0 - microUsd) * PICO_PER_MICRO;
}
