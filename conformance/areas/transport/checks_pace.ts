/**
 * Checks of the area `transport` about the pace of a live stream, where no gate can be set and only
 * the clock is left.
 */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { BOUNDED_SCENARIO, LIMITS_REFUSED } from "../limits/scenarios.ts";
import { SAME_AGAIN_NAME } from "../equivalence/scenarios_repetition.ts";
import { fact, type Finding, skill } from "../../suite/finding.ts";
import { heldFrom } from "./faults.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import type { Check } from "../../suite/check.ts";

/** Fewer deltas than this may be generated within one read. */
const DELTAS = 20;
/** A reply that took less may have been generated before the first frame was sent. */
const SLOW_MS = 1000;
/** A stream that took less than this many times a refusal is too fast to judge. */
const TIMES_A_REFUSAL = 8;
/**
 * No model generates more deltas in a millisecond; buffered deltas arrive faster when they are
 * released.
 */
const DELTAS_A_MS = 4;
/** Deltas that may precede the burst, in a stream that is buffered only after its beginning. */
const BEFORE = 2;
/** A buffer that is released in steps has at least so many deltas in a step, so far apart. */
const DELTAS_A_STEP = 8;
const STEP_MS = 300;
/** Between the steps of a buffer next to nothing arrives: this share of the time at least. */
const PAUSED = 0.8;
/**
 * A stall of the network or of the model looks like a buffer, so the target fails only by more than
 * this share of its streams, and by at least so many.
 */
const MOST = 1 / 2;
const SEVERAL = 3;

function arrivals(x: Exchange): readonly number[] {
  return x.frames.filter(({ json }) =>
    at(json, "type") === "content_block_delta" ||
    textAt(json, "choices.0.delta.content") !== "" ||
    at(json, "choices.0.delta.tool_calls") !== undefined
  ).map(({ atMs }) => atMs);
}

/** The time in which the target refuses a request; 0 when none was refused. */
function refusalMs(exchanges: readonly Exchange[]): number {
  const times = exchanges.filter(({ head }) => head?.status === 400)
    .map(({ endedMs }) => endedMs).toSorted((left, right) => left - right);
  return times[Math.floor(times.length / 2)] ?? 0;
}

/** How the deltas of a stream were held back; undefined where they were not. */
function heldBack(x: Exchange): string | undefined {
  const rest = arrivals(x).slice(BEFORE);
  const span = (rest.at(-1) ?? 0) - (rest[0] ?? 0);
  if (span * DELTAS_A_MS < rest.length) {
    return `${rest.length} within ${span.toFixed(1)} ms, of ${
      Math.round(x.endedMs)
    } ms in all`;
  }
  const pauses = rest.slice(1).map((ms, at) => ms - (rest[at] ?? 0))
    .filter((ms) => ms >= STEP_MS);
  const steps = pauses.length + 1;
  const paused = pauses.reduce((sum, ms) => sum + ms, 0);
  return steps > 1 && rest.length >= steps * DELTAS_A_STEP &&
      paused >= span * PAUSED
    ? `${rest.length} in ${steps} steps`
    : undefined;
}

/**
 * Long and slow streams whose deltas arrive in one burst, or in few, were buffered; other streams
 * cannot be judged.
 */
export function judgePace(exchanges: readonly Exchange[]): Finding[] {
  const slow = Math.max(SLOW_MS, refusalMs(exchanges) * TIMES_A_REFUSAL);
  const judgeable = exchanges.filter((x) =>
    isStream(x) && x.ending === "complete" && x.endedMs >= slow &&
    arrivals(x).length >= DELTAS
  );
  if (judgeable.length === 0) {
    const expected = `a stream of ${DELTAS} deltas that takes ${
      Math.round(slow)
    } ms`;
    return [
      skill(false, "streams", expected, "no stream is that long and slow"),
    ];
  }
  const held = judgeable.filter((x) => heldBack(x) !== undefined).length;
  const isTarget = held >= SEVERAL && held > judgeable.length * MOST;
  return judgeable.map((x) => {
    const how = heldBack(x);
    return (isTarget ? fact : skill)(
      how === undefined,
      "deltas",
      "spread over the reply",
      how === undefined
        ? "spread"
        : `${how}; so ${held} of ${judgeable.length} streams`,
      x,
    );
  });
}

export const TRANSPORT_PACE_CHECKS: readonly Check[] = [
  {
    id: "transport.not-in-one-piece",
    rule: {
      section: "Stream behaviour",
      text:
        "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    },
    level: "documented",
    mode: "live",
    reads: [TEXT_SCENARIO, BOUNDED_SCENARIO, SAME_AGAIN_NAME, LIMITS_REFUSED],
    judge: (e) => judgePace(e.exchanges),
    // A replay run proves more, with gates: see transport.not-buffered.
    faults: {
      "slow-stream-buffered": heldFrom(0),
      "slow-stream-buffered-late": heldFrom(4),
    },
  },
];
