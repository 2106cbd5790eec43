/**
 * The charge for a call: the counts that the upstream reported, else an estimate, marked as
 * one.
 *
 * - Reported counts are used unchanged, so that the ledger and the reply agree, up to what the
 *   call can have used (`usage_bound.ts`).
 * - A complete reply without counts is estimated: the prompt as before the call, the output
 *   as one token per four characters. Zero counts beside a received text are treated as absent.
 * - An incomplete reply (the client disconnected, the upstream failed midway) is charged
 *   for what was generated. The reported count often comes from the start of the stream and
 *   covers only the first token or two: a count below half of the estimate is replaced by
 *   the estimate.
 * - A client that left pays for the prompt that an upstream received, for what was generated until
 *   then, and for what was generated out of sight: as reported where the reply was read to its end,
 *   else as estimated by its time, up to the reservation.
 * - Another call that ended before anything was generated or reported costs nothing.
 */
import type { CallOutcome, UnseenReply } from "../call_outcome.ts";
import {
  type ChargeLine,
  chargeLines,
  costOfLines,
  totalLines,
} from "./charge_lines.ts";
import { CALL_METER } from "./meters.ts";
import { costMicroUsd, type Tokens } from "./money.ts";
import type { RateCard } from "./rate_card.ts";
import { type BoundedUsage, boundedUsage, markedLines } from "./usage_bound.ts";
import type { Usage } from "../../../translate/model/reply.ts";
import type { Charge, ReservedCall } from "../records.ts";

const CHARS_PER_TOKEN = 4;

/** The fields of a reserved call that the charge depends on. */
type Billable = Pick<
  ReservedCall,
  "inputTokens" | "price" | "card" | "asked"
>;

/** The fields that bound an estimate. */
type Bounded =
  & Billable
  & Pick<ReservedCall, "maxOutputTokens" | "reservedMicroUsd">;

export function chargeFor(call: Bounded, outcome: CallOutcome): Charge {
  const { usage, ended, unseen } = outcome;
  const isReported = tokenCount(usage.input) > 0 ||
    tokenCount(usage.cacheRead) > 0 || tokenCount(usage.cacheWrite) > 0 ||
    tokenCount(usage.output) > 0 ||
    usage.uses !== undefined ||
    usage.units !== undefined;
  const isComplete = ended === "complete" || unseen?.isWhole === true;
  if (!isComplete && !isReported && tokenCount(outcome.generatedChars) === 0) {
    if (unseen?.wasSent !== true) {
      return charge(call, NOTHING, NO_USAGE, false, ended);
    }
    if (hasNoTokens(call)) return reservedCharge(call, ended);
  }
  const visible = tokensOf(outcome.generatedChars);
  const estimate = isComplete
    ? visible
    : Math.max(visible, withHidden(call, visible, unseen));
  const promptReported = estimate === 0
    ? usage.input !== undefined || usage.cacheRead !== undefined ||
      usage.cacheWrite !== undefined
    : tokenCount(usage.input) > 0 || tokenCount(usage.cacheRead) > 0 ||
      tokenCount(usage.cacheWrite) > 0;
  const outputReported = usage.output !== undefined &&
    (estimate === 0 || tokenCount(usage.output) > 0) &&
    (isComplete || tokenCount(usage.output) * 2 >= estimate);
  const later = tokensOf(unseen?.laterChars ?? 0);
  const tokens: Tokens = {
    input: promptReported
      ? tokenCount(usage.input)
      : tokenCount(call.inputTokens),
    cacheRead: tokenCount(usage.cacheRead),
    cacheWrite: tokenCount(usage.cacheWrite),
    output: !outputReported
      ? estimate
      : later === 0
      ? tokenCount(usage.output)
      : Math.max(visible, tokenCount(usage.output) - later),
  };
  const estimated = !promptReported || usage.areUnitsEstimated === true ||
    later > 0 || (!outputReported && (isComplete || estimate > 0));
  const most = outcome.most === undefined
    ? undefined
    : boundedUsage(tokens, usage.uses, outcome.most, outcome.generatedChars);
  return most?.beyond === undefined
    ? charge(call, tokens, usage, estimated, ended)
    : charge(
      call,
      most.tokens,
      { ...usage, ...(most.uses === undefined ? {} : { uses: most.uses }) },
      true,
      ended,
      most.beyond,
    );
}

/**
 * The charge for a call whose process died: the prompt as estimated, and the average output
 * of the model's calls. Never more than was reserved; a call that is not billed by tokens is
 * charged what was reserved.
 */
export function chargeForLost(
  call: Bounded,
  averageOutputTokens: number,
): Charge {
  if (hasNoTokens(call)) return reservedCharge(call, "lost");
  const tokens: Tokens = {
    ...NOTHING,
    input: tokenCount(call.inputTokens),
    output: Math.min(
      tokenCount(averageOutputTokens),
      tokenCount(call.maxOutputTokens),
    ),
  };
  return charge(call, tokens, NO_USAGE, true, "lost");
}

/** Whether a call is billed, but not by tokens. */
function hasNoTokens(
  { inputTokens, maxOutputTokens, reservedMicroUsd }: Bounded,
): boolean {
  return inputTokens + maxOutputTokens === 0 && reservedMicroUsd > 0;
}

/** What was reserved, as one line. */
function reservedCharge(call: Bounded, ended: Charge["ended"]): Charge {
  const whole: ChargeLine = {
    meter: CALL_METER,
    quantity: 1,
    rate: call.reservedMicroUsd,
    bounded: true,
  };
  return {
    ...charge(call, NOTHING, NO_USAGE, true, ended),
    costMicroUsd: call.reservedMicroUsd,
    lines: [whole],
  };
}

/** The tokens of a reply with those out of sight, at most those that it could have. */
function withHidden(
  { maxOutputTokens }: Bounded,
  visible: number,
  unseen: UnseenReply | undefined,
): number {
  return Math.min(
    visible + tokenCount(unseen?.hiddenTokens),
    tokenCount(maxOutputTokens),
  );
}

/** Estimated tokens of a number of characters. */
function tokensOf(chars: number): number {
  return Math.ceil(tokenCount(chars) / CHARS_PER_TOKEN);
}

const NO_USAGE: Usage = {};

const NOTHING: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function charge(
  call: Billable,
  tokens: Tokens,
  usage: Usage,
  estimated: boolean,
  ended: Charge["ended"],
  beyond?: BoundedUsage["beyond"],
): Charge {
  // A stored reservation has the rates of what it asked for, and no card.
  const card: RateCard = call.card ?? call.price;
  const counted = chargeLines(card, tokens, usage, call.asked);
  const lines = beyond === undefined
    ? counted
    : markedLines(counted ?? totalLines(card, tokens), beyond);
  return {
    tokens,
    reasoningTokens: Math.min(tokenCount(usage.reasoning), tokens.output),
    estimated,
    ended,
    costMicroUsd: lines === undefined
      ? costMicroUsd(card, tokens)
      : costOfLines(lines),
    ...(card === call.price ? {} : { price: card }),
    ...(lines === undefined ? {} : { lines }),
  };
}

/** Whether a line of a charge replaces a rate that the card does not have. */
export function isUnpriced({ lines }: Pick<Charge, "lines">): boolean {
  return lines?.some(({ unpriced }) => unpriced === true) === true;
}

/** Whether a line has a bound in place of an impossibly high count. */
export function isBounded({ lines }: Pick<Charge, "lines">): boolean {
  return lines?.some(({ bounded }) => bounded === true) === true;
}

/** Any number as a token count: a whole number, not negative, at most 10^9. */
export function wholeTokens(value: number): number {
  return Number.isNaN(value)
    ? 0
    : Math.min(Math.max(0, Math.ceil(value)), MAX_TOKENS);
}

function tokenCount(value: number | undefined): number {
  return value === undefined ? 0 : wholeTokens(value);
}

/** Above any real call; keeps sums of absurd counts exact. */
const MAX_TOKENS = 1_000_000_000;
