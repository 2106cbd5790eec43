/**
 * What a call is billed: the figures that the upstream told, else an estimate that is marked as one.
 *
 * - Told figures are taken as they are, so that the ledger and the reply say the same.
 * - A whole reply without figures is estimated: the prompt as before the call, the output as a token per four characters.
 * - A reply that broke off (the caller left, the upstream failed midway) is billed for what was generated. The figure told is often
 *   the one from the start of the stream, which counts the first token or two: one that is less than half of the estimate
 *   gives way to the estimate.
 * - A call that broke off before anything was generated or told costs nothing.
 *
 * @module
 */
import type { CallOutcome } from "./accounts.ts";
import { costMicroUsd, type Tokens } from "./money.ts";
import type { Charge, OpenCall } from "./records.ts";

const CHARS_PER_TOKEN = 4;

/** What of a granted call the bill depends on. */
export type Billable = Pick<OpenCall, "inputTokens" | "price">;

/** The charge for a call that came out in some way. */
export function chargeFor(call: Billable, outcome: CallOutcome): Charge {
  const { usage, ended } = outcome;
  const told = [usage.input, usage.cacheRead, usage.cacheWrite, usage.output]
    .some((figure) => count(figure) > 0);
  const whole = ended === "complete";
  if (!whole && !told && count(outcome.generatedChars) === 0) {
    return charge(call, NOTHING, 0, false, ended);
  }
  const promptTold = usage.input !== undefined ||
    usage.cacheRead !== undefined || usage.cacheWrite !== undefined;
  const guess = Math.ceil(count(outcome.generatedChars) / CHARS_PER_TOKEN);
  const outputTold = usage.output !== undefined &&
    (whole || count(usage.output) * 2 >= guess);
  const tokens: Tokens = {
    input: promptTold ? count(usage.input) : count(call.inputTokens),
    cacheRead: count(usage.cacheRead),
    cacheWrite: count(usage.cacheWrite),
    output: outputTold ? count(usage.output) : guess,
  };
  const estimated = !promptTold || (!outputTold && (whole || guess > 0));
  return charge(call, tokens, count(usage.reasoning), estimated, ended);
}

/**
 * The charge for a call whose process died with it open: the prompt as estimated, and as much output as calls of the model
 * usually have. Never more than was reserved.
 */
export function chargeForLost(
  call: Billable & Pick<OpenCall, "maxOutputTokens">,
  usualOutputTokens: number,
): Charge {
  const tokens: Tokens = {
    ...NOTHING,
    input: count(call.inputTokens),
    output: Math.min(count(usualOutputTokens), count(call.maxOutputTokens)),
  };
  return charge(call, tokens, 0, true, "lost");
}

const NOTHING: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function charge(
  call: Billable,
  tokens: Tokens,
  reasoning: number,
  estimated: boolean,
  ended: Charge["ended"],
): Charge {
  return {
    tokens,
    reasoningTokens: Math.min(reasoning, tokens.output),
    estimated,
    ended,
    costMicroUsd: costMicroUsd(call.price, tokens),
  };
}

/** A figure as a count of tokens: whatever a vendor or an estimate says, the books get a whole number that is not below zero. */
export function wholeTokens(figure: number): number {
  return Number.isNaN(figure)
    ? 0
    : Math.min(Math.max(0, Math.ceil(figure)), MAX_TOKENS);
}

function count(figure: number | undefined): number {
  return figure === undefined ? 0 : wholeTokens(figure);
}

/** Beyond any real call; keeps sums of absurd figures exact. */
const MAX_TOKENS = 1_000_000_000;
