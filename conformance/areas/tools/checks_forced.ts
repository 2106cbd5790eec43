/** Checks of the area `tools`: a call that the request forces. */
import {
  type Check,
  checksWith,
  type Rule,
  sharedFaults,
} from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { brief } from "../../evidence/json_path.ts";
import { stopCauseIn, toolCallsIn } from "../../evidence/tool_calls.ts";
import { FORCED_TOOL } from "./scenarios.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { demanded, fact, type Finding, skill } from "../../suite/finding.ts";

export const FINE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";

/** Whole replies and streams of one endpoint, or of both. */
export function repliesOf(e: Evidence, endpoint: string): readonly Exchange[] {
  return [
    ...e.replies(`${endpoint}/*/whole/*`),
    ...e.streams(`${endpoint}/*/stream/*`),
  ];
}

export const ENDED: Rule = {
  section: "States and transitions",
  text: "they describe why one reply ended and are not states that move.",
};

export const FINISH: Rule = {
  source:
    "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
  text: "`finish_reason` is tool_calls when the model called a tool.",
};

/** Replies with a forced call have the stop cause of a call. */
function stoppedForCall(
  e: Evidence,
  endpoint: string,
  reasonsOf: (x: Exchange) => readonly string[],
): Finding[] {
  return repliesOf(e, endpoint).map((x) => {
    const expected = reasonsOf(x);
    const found = stopCauseIn(x);
    const called = toolCallsIn(x).length > 0;
    const judged = cutShort(x) ? skill : called ? fact : demanded(e);
    return judged(
      expected.includes(found),
      "stop cause",
      expected.join(" or "),
      found,
      x,
    );
  });
}

/** True when the limit ended a reply, so that the model may not have reached its call. */
function cutShort(x: Exchange): boolean {
  return ["length", "max_tokens"].includes(stopCauseIn(x));
}

export const FORCED_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["tool-forced"],
}, [
  {
    id: "tools.forced",
    source: `${FINE}, forcing tool use`,
    rule: "A tool that is forced by name is called, and no other.",
    isSkillLive: true,
    judge: (e) =>
      [...e.replies("*/*/whole/named"), ...e.streams("*/*/stream/named")].map(
        (x) => {
          const found = toolCallsIn(x).map(({ name }) => name);
          const judged = cutShort(x) ? skill : demanded(e);
          return judged(
            found.length > 0 && found.every((name) => name === FORCED_TOOL),
            "called tools",
            FORCED_TOOL,
            brief(found),
            x,
          );
        },
      ),
    faults: sharedFaults("tool-choice-lost", "tool-choice-named-as-any"),
  },
  {
    id: "tools.forced-any",
    source: `${FINE}, forcing tool use`,
    rule: "Where any tool is forced, one is called.",
    isSkillLive: true,
    judge: (e) =>
      [...e.replies("*/*/whole/any"), ...e.streams("*/*/stream/any")].map(
        (x) => {
          const found = toolCallsIn(x);
          const judged = cutShort(x) ? skill : demanded(e);
          return judged(found.length > 0, "tool calls", "one", found, x);
        },
      ),
    faults: sharedFaults("tool-choice-lost", "tool-choice-any-as-auto"),
  },
  {
    id: "tools.forced-stop",
    rule: ENDED,
    level: "documented",
    judge: (e) => stoppedForCall(e, "messages", () => ["tool_use"]),
    faults: sharedFaults(
      "tool-stop-of-messages-lost",
      "tool-stop-of-messages-stream-lost",
    ),
  },
  {
    id: "tools.chat-forced-stop",
    rule: FINISH,
    level: "convention",
    // A vendor of the chat format sends `stop` when the call was forced by name.
    judge: (e) =>
      stoppedForCall(
        e,
        "chat",
        (x) =>
          x.label.endsWith("/named") ? ["tool_calls", "stop"] : ["tool_calls"],
      ),
    faults: sharedFaults("tool-stop-of-chat-lost"),
  },
]);
