/**
 * The check of the area `transport` that every request is answered: one failure for all that are
 * not, whatever else would have been read from their replies.
 */
import { type Check, checksWith } from "../../suite/check.ts";
import { namesOf, unanswered } from "../../suite/evidence.ts";
import { fact } from "../../suite/finding.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";

export const ANSWERED_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: "everything",
  provedBy: [TEXT_SCENARIO],
}, [{
  id: "transport.every-request-is-answered",
  source: "RFC 9110, 3.4",
  rule:
    "Every request is answered, and every reply ends, within the time limit of the run, or within three times that when it is asked again alone.",
  judgesSilence: true,
  judge: (e) => {
    const silent = unanswered(e.records);
    return [
      fact(
        silent.length === 0,
        "requests without a reply or its end",
        "none",
        silent.length === 0 ? "none" : `${silent.length}: ${namesOf(silent)}`,
        silent[0],
      ),
    ];
  },
  faults: {
    "reply-never-comes": {
      writer: (writer, { endpoint }) =>
        endpoint === "chat"
          ? { ...writer, head() {}, piece() {}, end() {} }
          : writer,
    },
    "reply-never-ends": {
      writer: (writer, { stream }) => stream ? { ...writer, end() {} } : writer,
    },
  },
}]);
