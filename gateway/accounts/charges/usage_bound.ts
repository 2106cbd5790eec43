/**
 * Compares reported counts with what a call can have used. A count is a vendor's claim: one above
 * the bound cannot be right, and the bound is charged instead.
 */
import type { Usage } from "../../../translate/model/reply.ts";
import type { ChargeLine } from "./charge_lines.ts";
import { METERS } from "./meters.ts";
import type { Tokens } from "./money.ts";

/** The most tokens that a call can have used. */
export interface UsageBound {
  /** Tokens of the prompt, cached ones included, however often a vendor's own loop reads it. */
  readonly input: number;
  /** Generated tokens of all replies; more received text raises it. */
  readonly output: number;
}

/** What a call is charged for, and which directions of it are bounds instead of counts. */
export interface BoundedUsage {
  readonly tokens: Tokens;
  readonly uses: Usage["uses"];
  /** Absent: the counts are within the bounds. */
  readonly beyond?: ReadonlySet<ChargedKind>;
}

/** What a line of a charge counts. */
type ChargedKind = "in" | "out" | "uses";

/**
 * Uses of a vendor's tools in one call, all tools together: vendors' own loops stop long before.
 */
const MOST_USES = 500;
/** A character of UTF-16 has at most three bytes, and a token at least one. */
const TOKENS_PER_CHAR = 3;

/**
 * The counts within `most`. Of a prompt beyond it, tokens read from a cache count first, because
 * they cost least.
 *
 * @param receivedChars characters of the reply: they prove at least so much output, whatever
 * `most.output` is
 */
export function boundedUsage(
  tokens: Tokens,
  uses: Usage["uses"],
  most: UsageBound,
  receivedChars: number,
): BoundedUsage {
  const { input, cacheRead, cacheWrite, output } = tokens;
  const mostOutput = Math.max(most.output, receivedChars * TOKENS_PER_CHAR);
  const isPromptBeyond = input + cacheRead + cacheWrite > most.input;
  const isOutputBeyond = output > mostOutput;
  const areUsesBeyond = uses !== undefined && usesIn(uses) > MOST_USES;
  if (!isPromptBeyond && !isOutputBeyond && !areUsesBeyond) {
    return { tokens, uses };
  }
  const read = Math.min(cacheRead, most.input);
  const written = Math.min(cacheWrite, most.input - read);
  return {
    tokens: {
      input: Math.min(input, most.input - read - written),
      cacheRead: read,
      cacheWrite: written,
      output: Math.min(output, mostOutput),
    },
    uses: areUsesBeyond ? firstUses(uses) : uses,
    beyond: new Set<ChargedKind>([
      ...(isPromptBeyond ? ["in" as const] : []),
      ...(isOutputBeyond ? ["out" as const] : []),
      ...(areUsesBeyond ? ["uses" as const] : []),
    ]),
  };
}

/** The lines of a charge, marked where they have a bound. */
export function markedLines(
  lines: readonly ChargeLine[],
  beyond: ReadonlySet<ChargedKind>,
): readonly ChargeLine[] {
  return lines.filter(({ quantity }) => quantity > 0).map((line) =>
    beyond.has(kindOf(line.meter)) ? { ...line, bounded: true } : line
  );
}

function kindOf(meter: string): ChargedKind {
  const name = meter.replace(/^unknown_/, "");
  return name in METERS
    ? METERS[name as keyof typeof METERS].direction
    : "uses";
}

function usesIn(uses: NonNullable<Usage["uses"]>): number {
  let sum = 0;
  for (const name in uses) sum += uses[name] ?? 0;
  return sum;
}

function firstUses(uses: NonNullable<Usage["uses"]>): Usage["uses"] {
  let left = MOST_USES;
  const some: Record<string, number> = {};
  for (const name in uses) {
    const count = Math.min(left, uses[name] ?? 0);
    if (count <= 0) continue;
    some[name] = count;
    left -= count;
  }
  return some;
}
