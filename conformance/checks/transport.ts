/** Checks of the area `transport`: streams that are not held back, calls that end with their caller, keys that stay inside. */
import { heldKey } from "../evidence/redaction.ts";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";

/** The checks. */
export const TRANSPORT_CHECKS: readonly Check[] = [
  {
    id: "transport.not-buffered",
    rule: {
      section: "Stream behaviour",
      text:
        "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    },
    level: "documented",
    mode: "replay",
    reads: ["gated"],
    judge: (e) =>
      e.matching("*/*/gated").map((x) =>
        fact(
          e.note(`${x.label} seen`) === true,
          "first words",
          "reach the caller before the upstream sends the rest",
          "did not come while the upstream waited",
          x,
        )
      ),
    mutants: ["stream-buffered"],
  },
  {
    id: "transport.hang-up-cancels",
    rule: {
      source: "https://github.com/BerriAI/litellm/issues/30245",
      text:
        "When the caller leaves, the call upstream is ended: nobody pays for tokens that nobody reads.",
    },
    level: "convention",
    mode: "replay",
    reads: ["hung-up"],
    judge: (e) =>
      e.matching("*/*/hung-up").map((x) => {
        const ending = e.note(`${x.label} upstream`);
        return fact(
          ending === "caller-hung-up",
          "upstream exchange",
          "caller-hung-up",
          ending,
          x,
        );
      }),
    mutants: ["hang-up-ignored"],
  },
  {
    id: "transport.no-key-in-replies",
    rule: {
      source:
        "A reply that holds a key leaks it into every log behind the caller",
      text: "No reply holds the caller's key or the upstream's.",
    },
    level: "convention",
    mode: "both",
    reads: "everything",
    provedBy: ["keys", "text"],
    judge: (e) =>
      e.exchanges.map((x) =>
        fact(
          !heldKey(x.text) && !heldKey(JSON.stringify(x.head?.headers ?? [])),
          "reply",
          "no key in it",
          "holds a key",
          x,
        )
      ),
    mutants: ["401-echoes-key", "upstream-key-in-header"],
  },
  {
    id: "transport.key-stays-inside",
    rule: {
      section: "What the service does",
      text: "A key is valid only for the gateway that issued it.",
    },
    level: "convention",
    mode: "replay",
    reads: ["text"],
    judge: (e) =>
      e.exchanges.flatMap((x) =>
        x.upstream.map((call) => {
          // The upstream's own key is masked as well, and stands in exactly these headers.
          const own = ["x-api-key", "authorization", "x-goog-api-key"];
          const rest = Object.entries(call.headers).filter(([name]) =>
            !own.includes(name)
          );
          return fact(
            !heldKey(JSON.stringify(rest)) && !heldKey(call.body) &&
              !heldKey(call.path),
            "upstream call",
            "no key outside the upstream's own header",
            "holds a key",
            x,
          );
        })
      ),
    mutants: ["client-key-forwarded"],
  },
];
