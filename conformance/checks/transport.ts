/** Checks of the area `transport`: streams that are not held back, calls that end with their caller, keys that stay inside. */
import { contentOf, fixtureSays, words } from "../evidence/content.ts";
import { headerOf, isStream } from "../evidence/exchange.ts";
import { heldKey } from "../evidence/redaction.ts";
import { PHASES } from "../scenarios/transport.ts";
import type { Check } from "../suite/check.ts";
import { fact, some } from "../suite/finding.ts";
import { TRANSPORT_HEAD_CHECKS } from "./transport_heads.ts";
import { TRANSPORT_PIECE_CHECKS } from "./transport_pieces.ts";
import { TRANSPORT_SAID_CHECKS } from "./transport_said.ts";
import { TRANSPORT_REQUEST_CHECKS } from "./transport_requests.ts";

const NOT_BUFFERED =
  "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.";

/** A check that the call upstream ends when the caller leaves in these phases. */
function hangUp(
  id: string,
  text: string,
  phases: readonly (keyof typeof PHASES)[],
  mutants: readonly string[],
): Check {
  return {
    id,
    rule: { source: "https://github.com/BerriAI/litellm/issues/30245", text },
    level: "convention",
    mode: "replay",
    reads: ["hung-up"],
    judge: (e) =>
      phases.flatMap((phase) => e.matching(`*/*/${phase}`)).map((x) => {
        const ending = e.note(`${x.label} upstream`);
        return fact(
          ending === "caller-hung-up",
          "upstream exchange",
          "caller-hung-up",
          ending,
          x,
        );
      }),
    mutants,
  };
}

/** The checks. */
export const TRANSPORT_CHECKS: readonly Check[] = [
  {
    id: "transport.not-buffered",
    rule: { section: "Stream behaviour", text: NOT_BUFFERED },
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
    mutants: ["stream-buffered", "stream-buffered-by-size"],
  },
  {
    id: "transport.each-part-at-once",
    rule: { section: "Stream behaviour", text: NOT_BUFFERED },
    level: "documented",
    mode: "replay",
    reads: ["gated-each"],
    judge: (e) =>
      e.matching("*/*/gated-each").map((x) => {
        const held = e.note(`${x.label} held`);
        return fact(
          held === "",
          "words of each frame",
          "reach the caller before the upstream sends the next frame",
          held === "" ? "all came" : `${held} did not`,
          x,
        );
      }),
    mutants: [
      "stream-buffered",
      "stream-one-behind",
      "stream-buffered-by-size",
      "stream-buffered-late",
    ],
  },
  hangUp(
    "transport.hang-up-cancels",
    "When the caller leaves, the call upstream is ended: nobody pays for tokens that nobody reads.",
    ["middle", "late"],
    ["hang-up-ignored"],
  ),
  hangUp(
    "transport.hang-up-before-head",
    "When the caller leaves before the reply has begun, the call upstream is ended.",
    ["before-head", "after-head"],
    ["hang-up-ignored"],
  ),
  hangUp(
    "transport.hang-up-whole",
    "When the caller of a whole reply leaves, the call upstream is ended.",
    ["whole-before-head", "whole-middle"],
    ["hang-up-ignored", "hang-up-of-whole-ignored"],
  ),
  {
    id: "transport.no-crosstalk",
    rule: {
      source: "Replies of one caller must never reach another",
      text: "Of many streams at once each has its own text, and is whole.",
    },
    level: "convention",
    mode: "replay",
    reads: ["parallel"],
    judge: (e) =>
      e.streams("*/*/*").map((x) => {
        const name = x.label.split("/").at(-1)?.split(":")[0] ?? "";
        const wanted = words(fixtureSays(name, x.via));
        const found = words(contentOf(x));
        return fact(found === wanted, "text", wanted, found, x);
      }),
    mutants: ["texts-swapped", "concurrent-text-lost"],
  },
  {
    id: "transport.streams-end",
    rule: {
      source: "RFC 9112, 8",
      text:
        "A stream that ran to its end is ended properly: the body is complete by its framing.",
    },
    level: "convention",
    mode: "replay",
    reads: ["text", "raw-streams", "parallel"],
    judge: (e) =>
      some(
        e.exchanges.filter(isStream).map((x) =>
          fact(
            x.ending === "complete",
            "end of the body",
            "complete",
            x.problem ?? x.ending,
            x,
          )
        ),
        "an event stream",
      ),
    mutants: ["stream-reset-at-end", "stream-never-ends"],
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
    mutants: [
      "401-echoes-key",
      "401-echoes-bearer",
      "upstream-key-in-header",
      "key-in-every-reply",
    ],
  },
  {
    id: "transport.upstream-key-not-repeated",
    rule: {
      source: "https://github.com/BerriAI/litellm/issues/15799",
      text:
        "What an upstream says about the gateway's own key never reaches the caller.",
    },
    level: "convention",
    mode: "replay",
    reads: ["upstream-identity"],
    judge: (e) =>
      ["echoing-401", "echoing-403"].flatMap((
        name,
      ) => [
        ...e.matching(`*/*/${name}-whole`),
        ...e.matching(`*/*/${name}-stream`),
      ]).map((x) =>
        fact(
          e.note(`${x.label} holds key`) === false && !heldKey(x.text),
          "reply",
          "the upstream's key is not in it",
          x.text.slice(0, 160),
          x,
        )
      ),
    mutants: ["upstream-words-passed-on"],
  },
  {
    id: "transport.key-stays-inside",
    rule: {
      source:
        "A key is valid only for the gateway that issued it (section What the service does): to others it is a secret",
      text:
        "Nothing that goes upstream holds a key, but for the header in which the upstream's own is due.",
    },
    level: "convention",
    mode: "replay",
    reads: ["text"],
    judge: (e) =>
      e.exchanges.flatMap((x) =>
        x.upstream.map((call) => {
          // The upstream's own key is masked as well, and stands in exactly these headers, or in `key` of the query.
          const own = ["x-api-key", "authorization", "x-goog-api-key"];
          const rest = Object.entries(call.headers).filter(([name]) =>
            !own.includes(name)
          );
          return fact(
            !heldKey(JSON.stringify(rest)) && !heldKey(call.body) &&
              !heldKey(call.path.replace(/([?&]key=)[^&]*/, "$1")),
            "upstream call",
            "no key outside the upstream's own header",
            "holds a key",
            x,
          );
        })
      ),
    mutants: ["client-key-forwarded", "key-in-upstream-address"],
  },
  {
    id: "transport.no-cookies",
    rule: {
      source: "A gateway keeps no state of its callers in their clients",
      text: "No reply of an operation sets a cookie.",
    },
    level: "convention",
    mode: "both",
    reads: ["text", "keys"],
    judge: (e) =>
      e.exchanges.map((x) =>
        fact(
          headerOf(x, "set-cookie") === undefined,
          "set-cookie",
          "none",
          headerOf(x, "set-cookie"),
          x,
        )
      ),
    mutants: ["sets-cookie"],
  },
  ...TRANSPORT_HEAD_CHECKS,
  ...TRANSPORT_SAID_CHECKS,
  ...TRANSPORT_PIECE_CHECKS,
  ...TRANSPORT_REQUEST_CHECKS,
];
