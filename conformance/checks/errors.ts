/** Checks of the area `errors`: requests that are wrong. */
import type { Check } from "../suite/check.ts";
import { fact, satisfies, statusIs } from "../suite/finding.ts";

const FORMS = ["no-json", "no-messages", "unknown-role"] as const;

/** The checks. */
export const ERRORS_CHECKS: readonly Check[] = [
  {
    id: "errors.unlisted-model",
    rule: {
      section: "What the service does",
      text: "An id absent from the list cannot be called with that key.",
    },
    level: "documented",
    mode: "both",
    reads: ["wrong-requests"],
    judge: (e) => {
      e.replies("*/*/control");
      return e.matching("*/*/unknown-model").map((x) =>
        fact(
          [400, 403, 404].includes(x.head?.status ?? 0),
          "status",
          "400, 403 or 404",
          x.head?.status ?? x.ending,
          x,
        )
      );
    },
    mutants: ["unknown-model-served", "unknown-model-500"],
  },
  {
    id: "errors.wrong-request-400",
    rule: {
      source:
        "Client libraries retry 5xx and show 4xx: a caller's mistake must be one",
      text:
        "A body that is no JSON, no messages, or an unknown role: 400 with a JSON error.",
    },
    level: "convention",
    mode: "both",
    reads: ["wrong-requests"],
    judge: (e) => {
      e.replies("*/*/control");
      return FORMS.flatMap((form) => e.matching(`*/*/${form}`)).flatMap((x) => [
        statusIs(x, 400, 422),
        satisfies(
          x,
          "error.message",
          "a string that is not empty",
          (text) => typeof text === "string" && text !== "",
        ),
      ]);
    },
    mutants: ["wrong-request-500"],
  },
];
