/**
 * Checks of the area `transport` about the pace of a live stream, where no gate can be set and only
 * the clock is left.
 */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { BOUNDED_SCENARIO, LIMITS_REFUSED } from "../limits/scenarios.ts";
import { SAME_AGAIN_NAME } from "../equivalence/scenarios_repetition.ts";
import { factOf, type Finding, skill } from "../../suite/finding.ts";
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

/**
 * A long and slow stream whose deltas all arrive in one burst was buffered; other streams cannot be
 * judged.
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
  return judgeable.map((x) => {
    const rest = arrivals(x).slice(BEFORE);
    const span = (rest.at(-1) ?? 0) - (rest[0] ?? 0);
    return factOf(
      "deltas",
      `${rest.length} within ${span.toFixed(1)} ms, of ${
        Math.round(x.endedMs)
      } ms in all`,
      x,
    ).mustBe("spread over the reply", span * DELTAS_A_MS >= rest.length);
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
