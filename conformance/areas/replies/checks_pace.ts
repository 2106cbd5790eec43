/** Rules for the pace of streams at the optional endpoints. */
import { holdPieces } from "../transport/faults.ts";
import { compare, factOf } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { PACED } from "./scenarios_pace.ts";

/** The checks of both rules, one for each endpoint. */
export const PACE_CHECKS: readonly Check[] = Object.entries(PACED).flatMap((
  [endpoint, { scenario, needs }],
) =>
  checksWith({
    mode: "replay",
    needs,
    reads: [scenario],
    of: (e: Evidence) => e.exchanges,
  }, [
    {
      id: `${endpoint}.not-buffered`,
      section: "Stream behaviour",
      rule:
        "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
      matching: `${endpoint}/*/*/gated`,
      each: (x, e) =>
        factOf(
          "first content",
          "did not arrive while the upstream waited",
          x,
        )
          .mustBe(
            "reach the client before the upstream sends the rest",
            e.note(`${x.label} seen`) === true,
          ),
      misses: {
        "until-the-end": holdPieces(() => false, endpoint),
      },
    },
    {
      id: `${endpoint}.hang-up-cancels`,
      source: "https://github.com/BerriAI/litellm/issues/30245",
      rule:
        "When the client disconnects, the upstream call is ended: no tokens are billed that no client reads.",
      matching: `${endpoint}/*/*/left`,
      each: (x, e) => {
        const ending = e.note(`${x.label} upstream`);
        return compare("upstream exchange", ending, "caller-hung-up", x);
      },
      misses: {
        ignored: {
          hangUpCancels: (x) => x.endpoint !== endpoint,
        },
      },
    },
  ])
);
