/** Checks of the area `upstream`: the upstream receives the client's conversation word for word. */
import { compare, factOf, offered, statusIs } from "../../suite/finding.ts";
import { changeRequest, inParts } from "../../faults/change_request.ts";
import {
  type Check,
  checksWith,
  pick,
  sharedFaults,
} from "../../suite/check.ts";
import {
  CONVERSATION_FAULTS,
  systemLost,
  systemLostOnChat,
  text,
  turnOf,
} from "./faults.ts";
import { at, sameJson } from "../../evidence/json_path.ts";
import { textsOf, turnsText } from "../../evidence/upstream_request.ts";
import { CACHED, KEPT } from "./scenarios_request.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  equal,
  passed,
  type PassedRequest,
  passedRequest,
  SAME,
  TABLE,
} from "./passed_request.ts";

/** Forms whose turns must arrive exactly as sent. */
const EXACT = ["history", "blocks"] as const;

/** True when the texts occur in this order, with anything between them. */
function inOrder(parts: readonly string[], within: string): boolean {
  let from = 0;
  return parts.every((part) => {
    const found = within.indexOf(part, from);
    from = found + part.length;
    return found >= 0;
  });
}

/** The requests with blocks to be kept whose upstream has the message format. */
function sameFormat(e: Evidence): readonly PassedRequest[] {
  return offered(
    passed(e, "kept-blocks", "messages")
      .filter(({ call }) => call.dialect === "messages"),
    "has the message format",
  );
}

export const CONVERSATION_CHECKS: readonly Check[] = checksWith({
  section: TABLE,
  mode: "replay",
  reads: ["sent-talk"],
}, [
  {
    id: "upstream.turns",
    rule: "Alternating `user` / `assistant` turns, oldest first.",
    judge: (e) =>
      ["history", "long-history"].flatMap((form) => passed(e, form)).map((p) =>
        factOf("turns upstream", turnsText(p.sent), p.x).mustBe(
          turnsText(p.asked),
          turnsText(p.asked) === turnsText(p.sent),
        )
      ),
    faults: {
      "history-cut": changeRequest((request) => ({
        turns: request.turns.slice(-1),
      })),
      "history-reversed": changeRequest(({ turns }) => ({
        turns: [...turns.slice(0, -1).reverse(), ...turns.slice(-1)],
      })),
      "assistant-turns-are-users": changeRequest((request) => ({
        turns: request.turns.map((turn) => ({ ...turn, role: "user" })),
      })),
      "middle-turn-lost": changeRequest((request) => ({
        turns: request.turns.length < 3
          ? request.turns
          : request.turns.filter((_, index) => index !== 1),
      })),
      "long-history-cut": changeRequest((request) => ({
        turns: request.turns.slice(-11),
      })),
    },
  },
  {
    id: "upstream.user-text",
    source: SAME,
    rule:
      "The user's text reaches the upstream unchanged: every space, line end and character.",
    judge: (e) =>
      [...EXACT, "long-text"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "text upstream", textsOf(p.asked), textsOf(p.sent))
      ),
    faults: {
      "text-trimmed": text((words) => words.trim()),
      "blanks-collapsed": text((words) => words.replaceAll(/ +/g, " ")),
      "text-escaped": text((words) => words.replaceAll("<", "&lt;")),
      "text-decomposed": text((words) => words.normalize("NFD")),
      "text-composed": text((words) => words.normalize("NFC")),
      "long-text-cut": text((words) =>
        words.length > 32_768
          ? words.slice(0, 8192) + words.slice(-8192)
          : words
      ),
      "emoji-lost": text((words) =>
        words.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "")
      ),
      "line-ends-changed": text((words) => words.replaceAll("\n", "\r\n")),
    },
  },
  {
    id: "upstream.nothing-invented",
    source: SAME,
    rule:
      "Nothing is added to the conversation: no further turn, text or instruction.",
    judge: (e) =>
      EXACT.flatMap((form) => passed(e, form)).flatMap((p) => [
        equal(p, "turns upstream", turnsText(p.asked), turnsText(p.sent)),
        equal(p, "instructions upstream", p.asked.system, p.sent.system),
      ]),
    faults: {
      "text-invented": text((words) => `Be helpful. ${words}`),
      "turn-invented": changeRequest(({ turns }) => ({
        turns: [turnOf("user", "Hello."), turnOf("assistant", "Hi!"), ...turns],
      })),
      "instruction-invented": changeRequest((request) => ({
        system: `${request.system}You are a helpful assistant.`,
      })),
    },
  },
  {
    id: "upstream.system",
    section: "Equivalent fields between the two formats",
    rule:
      "| System prompt | top-level `system` | first entry of `messages` with role `system` |",
    judge: (e) =>
      ["history", "blocks"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "instructions upstream", p.asked.system, p.sent.system)
      ),
    faults: {
      "system-lost": systemLost,
      "system-lost-on-chat": systemLostOnChat,
      "system-as-user-text": changeRequest((request) => ({
        system: "",
        turns: request.system === ""
          ? request.turns
          : [turnOf("user", request.system), ...request.turns],
      })),
      "system-twice": changeRequest((request) => ({
        system: request.system + request.system,
      })),
      "system-first-line-only": changeRequest((request) => ({
        system: request.system.split("\n")[0] ?? "",
      })),
    },
  },
  {
    id: "upstream.several-systems",
    source: SAME,
    rule: "Of several system entries each reaches the upstream.",
    judge: (e) =>
      [
        ...passed(e, "two-systems", "chat"),
        ...passed(e, "system-blocks", "messages"),
      ].map(({ x, sent }) =>
        factOf("instructions upstream", sent.system.join("|"), x).mustBe(
          "One. and Two.",
          inOrder(["One.", "Two."], sent.system.join("\n")),
        )
      ),
    faults: sharedFaults("system-first-line-only", "system-lost"),
  },
  {
    id: "upstream.kept-blocks",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/extended-thinking, preserving thinking blocks",
    rule:
      "Thinking and redacted thinking of earlier turns reach an upstream of the same format unchanged, including signatures.",
    judge: (e) =>
      sameFormat(e).map(({ x, call }) => {
        const sent = KEPT.map((_, n) =>
          at(call.json, `messages.1.content.${n}`) ?? null
        );
        return factOf("blocks upstream", sent, x).mustBe(
          JSON.stringify(KEPT),
          sameJson(sent, [...KEPT]),
        );
      }),
    faults: {
      "thinking-lost-upstream": inParts("kept", () => undefined),
      "signature-changed-upstream": inParts(
        "kept",
        (part) =>
          part.block["signature"] === undefined
            ? part
            : { ...part, block: { ...part.block, signature: "new" } },
      ),
    },
  },
  {
    id: "upstream.cache-control",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    rule:
      "A cache mark on a block reaches an upstream of the same format: without it the client pays the full price.",
    judge: (e) =>
      sameFormat(e).map(({ x, call }) => {
        const sent = at(call.json, "messages.2.content.0.cache_control");
        return compare("cache_control upstream", sent, CACHED, x);
      }),
    faults: {
      "cache-mark-lost": inParts("text", ({ text }) => ({
        type: "text",
        text,
      })),
    },
  },
  {
    id: "upstream.developer",
    source:
      "https://platform.openai.com/docs/api-reference/chat/create, developer messages",
    rule:
      "The text of a developer message reaches the upstream as instructions, or the request is refused.",
    matching: "chat/*/developer-whole",
    each: (x) => {
      if (x.head?.status !== 200) return statusIs(x, 400, 422);
      const p = passedRequest(x);
      return equal(p, "instructions upstream", p.asked.system, p.sent.system);
    },
    faults: sharedFaults("system-lost-on-chat", "system-as-user-text"),
  },
  ...["neighbours", "parts"].map((form) => ({
    id: `upstream.text-of-${form}`,
    source: SAME,
    rule: form === "parts"
      ? "Each text part of a turn reaches the upstream, in order."
      : "Consecutive user turns all reach the upstream, in order.",
    judge: (e: Evidence) =>
      passed(e, form).map(({ x, asked, sent }) =>
        factOf("text upstream", textsOf(sent), x).mustBe(
          JSON.stringify(textsOf(asked)),
          inOrder(textsOf(asked), textsOf(sent).join("\n")),
        )
      ),
    faults: pick(CONVERSATION_FAULTS, "last-text-only", "texts-reversed"),
  })),
]);
