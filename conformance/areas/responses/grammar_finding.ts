/** What the grammar of streams finds, as findings of checks. */
import type { Exchange } from "../../evidence/exchange.ts";
import { factOf, type Finding } from "../../suite/finding.ts";
import { faultsIn, type GrammarRule } from "./grammar.ts";

/** Judges a stream by some rules of the grammar, or by all when none is given. */
export function follows(
  ...rules: readonly GrammarRule[]
): (x: Exchange) => Finding {
  return judging((rule) => rules.length === 0 || rules.includes(rule));
}

/** Judges the events of a web socket, which have no `event:` line. */
export const followsUnnamed = judging((rule) => rule !== "event");

function judging(
  isJudged: (rule: GrammarRule) => boolean,
): (x: Exchange) => Finding {
  return (x) => {
    const fault = faultsIn(x.frames).find(({ rule }) => isJudged(rule));
    return factOf(
      fault === undefined ? "frames" : `frame ${fault.frame?.at ?? "none"}`,
      fault?.frame?.data ?? `${x.frames.length} frames`,
      x,
      fault?.frame,
    ).mustBe(
      fault?.expected ?? "in the order of the format",
      fault === undefined,
    );
  };
}
