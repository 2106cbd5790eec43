/** Checks of the area `limits`. */
import type { Exchange } from "../evidence/exchange.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { statusIs } from "../suite/finding.ts";

const SECTION = "Limits";

/** Refusals count only when the same request without the fault is answered. */
function withControl(e: Evidence, pattern: string): readonly Exchange[] {
  e.replies(pattern.replace(/[^/]+$/, "control"));
  return e.matching(pattern);
}

/** The checks. */
export const LIMITS_CHECKS: readonly Check[] = [
  {
    id: "limits.max_tokens-required",
    rule: {
      section: SECTION,
      text:
        "| `max_tokens` is required and is an upper bound on output tokens | message endpoint |",
    },
    level: "documented",
    mode: "both",
    reads: ["limits"],
    judge: (e) =>
      withControl(e, "messages/*/no-max_tokens").map((x) => statusIs(x, 400)),
    mutants: ["max_tokens-has-default"],
  },
  {
    id: "limits.max_tokens-optional",
    rule: {
      section: SECTION,
      text: "| `max_tokens` is optional | chat-completion endpoint |",
    },
    level: "documented",
    mode: "both",
    reads: ["limits"],
    judge: (e) =>
      withControl(e, "chat/*/no-max_tokens").map((x) => statusIs(x, 200)),
    mutants: ["chat-needs-max_tokens"],
  },
  {
    id: "limits.temperature-range",
    rule: {
      section: SECTION,
      text: "| `temperature` range 0 to 1 | message endpoint |",
    },
    level: "documented",
    mode: "both",
    reads: ["limits"],
    judge: (e) =>
      withControl(e, "*/*/temperature-above").map((x) => statusIs(x, 400)),
    mutants: ["temperature-unchecked"],
  },
];
