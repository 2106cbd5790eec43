/** Checks of the area `transport` about the pace of a live stream, where no gate can be set and only the clock is left. */
import type { Exchange } from "../evidence/exchange.ts";
import { isStream } from "../evidence/exchange.ts";
import { at, textAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import { fact, type Finding, skill } from "../suite/finding.ts";

/** So many deltas are not made in an instant. */
const DELTAS = 20;
/** A reply that took less may have been ready at once. */
const SLOW_MS = 2000;

/** The times at which text or arguments arrived. */
function arrivals(x: Exchange): readonly number[] {
  return x.frames.filter(({ json }) =>
    at(json, "type") === "content_block_delta" ||
    textAt(json, "choices.0.delta.content") !== "" ||
    at(json, "choices.0.delta.tool_calls") !== undefined
  ).map(({ atMs }) => atMs);
}

/** A long and slow stream whose deltas all came at the same moment was held back; of others nothing can be told. */
export function inPieces(exchanges: readonly Exchange[]): Finding[] {
  const telling = exchanges.filter((x) =>
    isStream(x) && x.ending === "complete" && x.endedMs >= SLOW_MS &&
    arrivals(x).length >= DELTAS
  );
  if (telling.length === 0) {
    const expected = `a stream of ${DELTAS} deltas that takes ${
      SLOW_MS / 1000
    } s`;
    return [skill(false, "streams", expected, "none so long and slow")];
  }
  return telling.map((x) => {
    const pieces = new Set(arrivals(x)).size;
    return fact(
      pieces > 1,
      "pieces that brought the deltas",
      "several",
      `${pieces} in ${x.endedMs} ms`,
      x,
    );
  });
}

/** The checks. */
export const TRANSPORT_PIECE_CHECKS: readonly Check[] = [
  {
    id: "transport.not-in-one-piece",
    rule: {
      section: "Stream behaviour",
      text:
        "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    },
    level: "documented",
    mode: "live",
    reads: ["text", "bounded", "same-again"],
    judge: (e) => inPieces(e.exchanges),
    // A replay run proves more, with gates: see transport.not-buffered. This rule is proved by its own test.
    mutants: [],
  },
];
