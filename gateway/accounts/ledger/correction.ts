/**
 * Corrections: entries that replace the estimate of a call charged as lost by what the call
 * really used, once its process is back. A correction holds the difference, so that every sum of
 * entries is right, and bears the time of the entry that it corrects, so that the sums of each
 * day, week and month are.
 */
import {
  type Charge,
  type LedgerEntry,
  type ReservedCall,
  TOKEN_COUNTS,
} from "../records.ts";
import {
  type ChargeLine,
  joinedLines,
  totalLines,
} from "../charges/charge_lines.ts";
import { linesOf } from "../charges/explanation.ts";
import { type ModelPrice, priceText } from "../charges/money.ts";
import { dayOf } from "../limits/calendar_window.ts";
import type { Amount } from "../limits/window_limits.ts";

/** A correction to enter. */
export interface Correction {
  readonly type: "correction";
  readonly call: ReservedCall;
  /** What the call should have been charged. */
  readonly charge: Charge;
  /** The entry that it was charged by. */
  readonly lost: LedgerEntry;
  /** That of `lost`. */
  readonly atMs: number;
}

/** What a correction adds to what is used of limits, and the day to which it belongs. */
export interface LateAmount extends Amount {
  readonly day: number;
}

/**
 * The ledger's id of the correction of a call. The ledger holds an id once, so a correction too.
 */
export function correctionId(requestId: string): string {
  return requestId + CORRECTION_SUFFIX;
}

/** See {@linkcode correctionId}. */
export const CORRECTION_SUFFIX = ".correction";

/** The sums of an entry that a correction changes. */
// The definition has exactly these keys.
const SUMS = [...Object.keys(TOKEN_COUNTS), "microUsd"] as readonly (
  | keyof typeof TOKEN_COUNTS
  | "microUsd"
)[];

/** What the call cost and used beyond its estimate; negative: less. */
export function lateAmount({ charge, lost }: Correction): LateAmount {
  return {
    microUsd: charge.costMicroUsd + lost.microUsd,
    tokens: charge.tokens.input + charge.tokens.cacheRead +
      charge.tokens.cacheWrite + charge.tokens.output - lost.inputTokens -
      lost.cacheReadTokens - lost.cacheWriteTokens - lost.outputTokens,
    day: dayOf(lost.atMs),
  };
}

/**
 * The lines of a correction: those of the right charge, less those of the estimate; undefined where
 * the correction consists of token counts at a price that both have.
 */
export function correctionLines(
  charge: Charge,
  price: ModelPrice,
  lost: LedgerEntry,
): readonly ChargeLine[] | undefined {
  const lostPrice = lost.price ?? priceText(price);
  if (
    charge.lines === undefined && lost.lines === undefined &&
    lostPrice === priceText(price)
  ) return undefined;
  return joinedLines([
    ...charge.lines ?? totalLines(price, charge.tokens),
    ...linesOf(lost, lostPrice).map((line) => ({
      ...line,
      quantity: 0 - line.quantity,
    })),
  ]);
}

/** The charge of a call as its correction leaves it: one entry with the sums of both. */
export function applyCorrection(
  lost: LedgerEntry,
  correction: LedgerEntry | undefined,
): LedgerEntry {
  if (correction === undefined) return lost;
  const sums = Object.fromEntries(
    SUMS.map((name) => [name, lost[name] + correction[name]]),
  );
  const { estimated, ended, corrects, seq, price } = correction;
  return {
    ...lost,
    ...sums,
    ...(price === undefined || correction.lines === undefined ? {} : {
      price,
      lines: joinedLines([
        ...linesOf(lost, lost.price ?? price),
        ...correction.lines,
      ]),
    }),
    seq,
    estimated,
    ...(ended === undefined ? {} : { ended }),
    ...(corrects === undefined ? {} : { corrects }),
  };
}

/** The charges of calls: each correction is one with the entry that it corrects. */
export function withCorrections(
  entries: readonly LedgerEntry[],
): readonly LedgerEntry[] {
  const corrections = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    if (entry.corrects !== undefined) corrections.set(entry.corrects, entry);
  }
  if (corrections.size === 0) return entries;
  return entries.filter(({ corrects }) => corrects === undefined)
    .map((entry) => applyCorrection(entry, corrections.get(entry.requestId)));
}
