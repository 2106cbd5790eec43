/** Checks of the area `upstream`: the conversation that the upstream is sent is the caller's, word for word. */
import { at, sameJson } from "../evidence/json_path.ts";
import { textsOf, turnsText } from "../evidence/sent_upstream.ts";
import { CACHED, KEPT } from "../scenarios/sent_upstream.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, NotTestable, statusIs } from "../suite/finding.ts";
import {
  equal,
  type Passed,
  passed,
  passedBy,
  SAME,
  sentCheck,
  TABLE,
} from "./sent_request.ts";

/** Forms whose turns must arrive just as they were sent. */
const EXACT = ["history", "blocks"] as const;

/** The texts in their order, whatever stands between them. */
function inOrder(parts: readonly string[], within: string): boolean {
  let from = 0;
  return parts.every((part) => {
    const found = within.indexOf(part, from);
    from = found + part.length;
    return found >= 0;
  });
}

/** The requests with blocks to be kept that went to an upstream of the message format. */
function sameFormat(e: Evidence): readonly Passed[] {
  const found = passed(e, "kept-blocks", "messages")
    .filter(({ call }) => call.dialect === "messages");
  if (found.length > 0) return found;
  throw new NotTestable("no model is reached by the message format");
}

/** The checks. */
export const TALK_CHECKS: readonly Check[] = [
  sentCheck(
    "turns",
    {
      section: TABLE,
      text: "Alternating `user` / `assistant` turns, oldest first.",
    },
    (e) =>
      ["history", "long-history"].flatMap((form) => passed(e, form)).map((p) =>
        fact(
          turnsText(p.asked) === turnsText(p.sent),
          "turns upstream",
          turnsText(p.asked),
          turnsText(p.sent),
          p.x,
        )
      ),
    [
      "history-cut",
      "history-reversed",
      "assistant-turns-are-users",
      "middle-turn-lost",
      "long-history-cut",
    ],
    "documented",
  ),
  sentCheck(
    "user-text",
    {
      ...SAME,
      text:
        "The user's text arrives upstream unchanged: each blank, line end and character of it.",
    },
    (e) =>
      [...EXACT, "long-text"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "text upstream", textsOf(p.asked), textsOf(p.sent))
      ),
    [
      "text-trimmed",
      "blanks-collapsed",
      "text-escaped",
      "text-decomposed",
      "text-composed",
      "long-text-cut",
      "emoji-lost",
      "line-ends-changed",
    ],
  ),
  sentCheck("nothing-invented", {
    ...SAME,
    text:
      "Nothing is said upstream that the caller did not say: no further turn, text or instruction.",
  }, (e) =>
    EXACT.flatMap((form) => passed(e, form)).flatMap((p) => [
      equal(p, "turns upstream", turnsText(p.asked), turnsText(p.sent)),
      equal(p, "instructions upstream", p.asked.system, p.sent.system),
    ]), ["text-invented", "turn-invented", "instruction-invented"]),
  sentCheck(
    "system",
    {
      section: "Equivalent fields between the two formats",
      text:
        "| System prompt | top-level `system` | first entry of `messages` with role `system` |",
    },
    (e) =>
      ["history", "blocks"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "instructions upstream", p.asked.system, p.sent.system)
      ),
    [
      "system-lost",
      "system-lost-on-chat",
      "system-as-user-text",
      "system-twice",
      "system-first-line-only",
    ],
    "documented",
  ),
  sentCheck(
    "several-systems",
    { ...SAME, text: "Of several system entries each reaches the upstream." },
    (e) =>
      [
        ...passed(e, "two-systems", "chat"),
        ...passed(e, "system-blocks", "messages"),
      ].map(({ x, sent }) =>
        fact(
          inOrder(["One.", "Two."], sent.system.join("\n")),
          "instructions upstream",
          "One. and Two.",
          sent.system.join("|"),
          x,
        )
      ),
    ["system-first-line-only", "system-lost"],
  ),
  sentCheck(
    "kept-blocks",
    {
      source:
        "https://platform.claude.com/docs/en/build-with-claude/extended-thinking, preserving thinking blocks",
      text:
        "Thinking and redacted thinking of earlier turns reach an upstream of the same format unchanged, signatures and all.",
    },
    (e) =>
      sameFormat(e).map(({ x, call }) => {
        const sent = KEPT.map((_, n) =>
          at(call.json, `messages.1.content.${n}`) ?? null
        );
        return fact(
          sameJson(sent, [...KEPT]),
          "blocks upstream",
          JSON.stringify(KEPT),
          sent,
          x,
        );
      }),
    ["thinking-lost-upstream", "signature-changed-upstream"],
  ),
  sentCheck(
    "cache-control",
    {
      source:
        "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
      text:
        "A cache mark on a block reaches an upstream of the same format: without it the caller pays the full price.",
    },
    (e) =>
      sameFormat(e).map(({ x, call }) => {
        const sent = at(call.json, "messages.2.content.0.cache_control");
        return fact(
          sameJson(sent, CACHED),
          "cache_control upstream",
          JSON.stringify(CACHED),
          sent ?? "nothing",
          x,
        );
      }),
    ["cache-mark-lost"],
  ),
  sentCheck(
    "developer",
    {
      source:
        "https://platform.openai.com/docs/api-reference/chat/create, developer messages",
      text:
        "What a developer message says reaches the upstream as instructions, or the request is refused.",
    },
    (e) =>
      e.matching("chat/*/developer-whole").map((x) => {
        if (x.head?.status !== 200) return statusIs(x, 400, 422);
        const p = passedBy(x);
        return equal(p, "instructions upstream", p.asked.system, p.sent.system);
      }),
    ["system-lost-on-chat", "system-as-user-text"],
  ),
  ...["neighbours", "parts"].map((form) =>
    sentCheck(
      `text-of-${form}`,
      {
        ...SAME,
        text: form === "parts"
          ? "Each text part of a turn reaches the upstream, in order."
          : "User turns that follow each other all reach the upstream, in order.",
      },
      (e) =>
        passed(e, form).map(({ x, asked, sent }) =>
          fact(
            inOrder(textsOf(asked), textsOf(sent).join("\n")),
            "text upstream",
            JSON.stringify(textsOf(asked)),
            textsOf(sent),
            x,
          )
        ),
      ["last-text-only", "texts-reversed"],
    )
  ),
];
