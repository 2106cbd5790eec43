/**
 * Checks of the area `limits` about token counts: output is within its bound, input includes the
 * whole history.
 */
import { factOf, type Finding } from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { changeRequest } from "../../faults/change_request.ts";
import { usage } from "./faults.ts";
import { contentOf, tokensOf } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { numberAt } from "../../evidence/json_path.ts";
import { parseJson } from "@model-gateway/replay/json";
import type { Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

const SECTION = "Limits";

function outputWithinLimit(e: Evidence, x: Exchange): Finding {
  // A live model may answer with no text at all.
  const least = e.mode === "live" ? 0 : 1;
  const limit = numberAt(parseJson(x.request.body), "max_tokens") ?? 0;
  const { output } = tokensOf(contentOf(x));
  return factOf("output tokens", output, x).mustBe(
    `at least ${least} and at most ${limit}`,
    output >= least && output <= limit,
  );
}

/** Tokens of the history, at least, in every tokenizer. */
const HISTORY_TOKENS = { live: 1, replay: 20 } as const;

function historyTokens(e: Evidence, endpoint: Generation): Finding[] {
  return ["whole", "stream"].flatMap((form) => {
    const get = form === "whole" ? e.replies : e.streams;
    const alone = get.call(e, `${endpoint}/*/${form}-alone`);
    const after = get.call(e, `${endpoint}/*/${form}-after-history`);
    return alone.map((x, at) => {
      const less = tokensOf(contentOf(x)).input;
      const longer = after[at] ?? x;
      const more = tokensOf(contentOf(longer)).input;
      return factOf("input tokens", more, longer).mustBe(
        `more than the ${less} of the last turn alone`,
        less > 0 && more >= less + HISTORY_TOKENS[e.mode],
      );
    });
  });
}

export const LIMITS_USAGE_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
}, [
  {
    id: "limits.upper-bound",
    rule:
      "| `max_tokens` is required and is an upper bound on output tokens | message endpoint |",
    reads: ["bounded"],
    judge: (e) => [
      ...e.replies("*/*/whole").map((x) => outputWithinLimit(e, x)),
      ...e.streams("*/*/stream").map((x) => outputWithinLimit(e, x)),
    ],
    faults: {
      "output-count-raised": usage((part) => ({
        ...part,
        usage: part.usage.output === undefined
          ? part.usage
          : { ...part.usage, output: part.usage.output + 100 },
      })),
      ...sharedFaults("max_tokens-raised", "max_tokens-dropped"),
    },
  },
  {
    id: "limits.history-is-billed",
    rule:
      "| Billed input includes the whole resent history | message endpoint |",
    reads: ["resent-history"],
    judge: (e) => historyTokens(e, "messages"),
    faults: {
      "history-dropped": changeRequest(({ turns }) => ({
        turns: turns.slice(-1),
      })),
      "input-count-fixed": usage((part) => ({
        ...part,
        usage: { ...part.usage, input: 10 },
      })),
      ...sharedFaults("history-assistant-dropped"),
    },
  },
  {
    id: "limits.chat-history-is-billed",
    section: "Equivalent fields between the two formats",
    rule: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",
    reads: ["resent-history"],
    judge: (e) => historyTokens(e, "chat"),
    faults: sharedFaults(
      "history-dropped",
      "input-count-fixed",
      "history-assistant-dropped",
    ),
  },
]);
