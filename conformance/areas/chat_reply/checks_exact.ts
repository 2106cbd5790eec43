/**
 * Checks of the area `chat_reply` about the usage, and checks that compare with the fixture's
 * content.
 */
import { at, numberAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  fact,
  type Finding,
  satisfies,
  wholeNumber,
} from "../../suite/finding.ts";
import {
  allowedFinishReasons,
  chatReplies,
  fixtureContentOf,
  fixtureOf,
  fixtureText,
  isSpecified,
  textOfReply,
  usageFacts,
} from "./reply_content.ts";

const SECTION =
  "Chat completion reply (from `POST /v1/chat/completions`, not streamed)";
const CHOICES =
  "| choices | array | Each entry has `index` (integer), `message` (`role` = `assistant`, `content` string) and `finish_reason` (string, e.g. `stop`) |";
const CONTENTS = ["text", "chat-forms", "chat-contents"];

/** Compares the text of whole replies with the fixture. */
function texts(e: Evidence): Finding[] {
  return chatReplies(e).map((x) => {
    const expected = fixtureText(fixtureContentOf(x));
    const found = textOfReply(x);
    return fact(
      found === expected,
      "choices.0.message.content",
      expected.slice(0, 200),
      found.slice(0, 200),
      x,
    );
  });
}

/** Compares the finish reasons of whole replies with the fixture. */
function reasons(
  e: Evidence,
  which: (x: Exchange) => boolean,
): Finding[] {
  const withReason = chatReplies(e).filter((x) =>
    fixtureOf(x) !== "done-no-finish" && which(x)
  );
  return withReason.map((x) => {
    const expected = allowedFinishReasons(x);
    const found = at(x.json, "choices.0.finish_reason");
    return fact(
      typeof found === "string" && found !== "" &&
        (expected.length === 0 || expected.includes(found)),
      "choices.0.finish_reason",
      expected.join(" or ") || "a reason",
      found,
      x,
    );
  });
}

/** Compares the token counts of whole replies with the fixture. */
function tokens(e: Evidence): Finding[] {
  return chatReplies(e).flatMap((x) => usageFacts(x, at(x.json, "usage")));
}

const TEXT_RULE = {
  section: "Equivalent fields between the two formats",
  text: "| Reply text | `content[0].text` | `choices[0].message.content` |",
} as const;

/** Part of `CHAT_REPLY_CHECKS`. */
export const CHAT_REPLY_EXACT_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: CONTENTS,
}, [
  {
    id: "chat_reply.usage-sum",
    rule: {
      section: SECTION,
      text: "| usage.total_tokens | integer | Sum of the two |",
    },
    mode: "both",
    reads: ["text", "chat-forms"],
    judge: (e) =>
      chatReplies(e).flatMap((x) => {
        const sum = (numberAt(x.json, "usage.prompt_tokens") ?? NaN) +
          (numberAt(x.json, "usage.completion_tokens") ?? NaN);
        const total = at(x.json, "usage.total_tokens");
        return [
          satisfies(
            x,
            "usage.prompt_tokens",
            "an integer",
            wholeNumber(0),
          ),
          satisfies(x, "usage.completion_tokens", "an integer", wholeNumber(0)),
          fact(total === sum, "usage.total_tokens", `${sum}`, total, x),
        ];
      }),
    mutants: [
      "chat-total-is-prompt",
      "chat-usage-missing",
      "chat-total-missing",
      "chat-usage-as-text",
      "chat-usage-null",
      "chat-usage-of-messages",
    ],
  },
  {
    id: "chat_reply.text-exact",
    rule: TEXT_RULE,
    level: "documented",
    judge: texts,
    mutants: [
      "chat-text-trimmed",
      "chat-text-latin1",
      "chat-text-nfc",
      "chat-text-doubled",
      "chat-text-escaped",
      "chat-text-first-part",
      "chat-thinking-leaks",
    ],
  },
  {
    id: "chat_reply.text-exact-odd-upstreams",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-oddities"],
    judge: texts,
    mutants: ["chat-text-first-part", "chat-text-escaped"],
  },
  {
    id: "chat_reply.text-exact-long",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-sizes"],
    judge: texts,
    mutants: ["chat-text-cut"],
  },
  {
    id: "chat_reply.utf8",
    rule: {
      source: "RFC 8259, section 8.1",
      text:
        "JSON is UTF-8, and no character of the answer is replaced by U+FFFD.",
    },
    judge: (e) =>
      chatReplies(e).map((x) =>
        fact(
          x.validUtf8 && !x.text.includes("\ufffd") &&
            !x.text.includes("\\ufffd"),
          "body",
          "valid UTF-8 without U+FFFD",
          x.text.slice(0, 200),
          x,
        )
      ),
    mutants: ["chat-text-replaced"],
  },
  {
    id: "chat_reply.finish-exact",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
      text:
        "`finish_reason` is stop, length when the limit was reached, tool_calls when the model called a tool.",
    },
    judge: (e) => reasons(e, isSpecified),
    mutants: [
      "chat-length-as-stop",
      "chat-reply-tools-as-stop",
      "chat-stop-as-length",
      "chat-finish-null",
    ],
  },
  {
    id: "chat_reply.finish-exact-odd-upstreams",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
      text:
        "`finish_reason` is stop, length when the limit or the window is full, content_filter when content is withheld, tool_calls when the model called a tool.",
    },
    reads: ["chat-contents", "chat-oddities"],
    judge: (e) =>
      reasons(e, (x) => x.scenario === "chat-oddities" || !isSpecified(x)),
    mutants: ["chat-filter-as-stop", "chat-finish-null"],
  },
  {
    id: "chat_reply.finish-when-upstream-tells-none",
    rule: { section: SECTION, text: CHOICES },
    reads: ["chat-oddities"],
    judge: (e) =>
      e.replies("chat/*/whole/done-no-finish").map((x) =>
        satisfies(
          x,
          "choices.0.finish_reason",
          "a reason",
          (value) => typeof value === "string" && value !== "",
        )
      ),
    mutants: ["chat-finish-null", "chat-finish-null-in-own-dialect"],
  },
  {
    id: "chat_reply.usage-exact",
    rule: {
      section: SECTION,
      text: "| usage.prompt_tokens | integer | Input tokens |",
    },
    judge: tokens,
    mutants: [
      "chat-usage-off-by-one",
      "chat-usage-swapped",
      "chat-usage-zero",
      "chat-cache-not-counted",
      "chat-cache-counted-twice",
    ],
  },
  {
    id: "chat_reply.usage-exact-odd-upstreams",
    rule: {
      section: SECTION,
      text: "| usage.total_tokens | integer | Sum of the two |",
    },
    reads: ["chat-oddities"],
    judge: tokens,
    mutants: ["chat-usage-off-by-one"],
  },
  {
    id: "chat_reply.completion-exact",
    rule: {
      section: SECTION,
      text: "| usage.completion_tokens | integer | Output tokens |",
    },
    judge: (e) =>
      chatReplies(e).map((x) => {
        const { output } = fixtureContentOf(x).usage;
        const found = at(x.json, "usage.completion_tokens");
        return fact(
          found === output,
          "usage.completion_tokens",
          `${output}`,
          found,
          x,
        );
      }),
    mutants: ["chat-usage-zero", "chat-completion-doubled"],
  },
  {
    id: "chat_reply.cached-tokens",
    rule: {
      source:
        "https://platform.openai.com/docs/guides/prompt-caching, usage.prompt_tokens_details",
      text:
        "`cached_tokens` is the number of prompt tokens read from the cache; it is included in `prompt_tokens`.",
    },
    judge: (e) =>
      chatReplies(e).map((x) => {
        const { cacheRead } = fixtureContentOf(x).usage;
        const path = "usage.prompt_tokens_details.cached_tokens";
        const found = at(x.json, path) ?? undefined;
        // The field may be absent where the count is 0.
        const holds = found === cacheRead ||
          (found === undefined && cacheRead === 0);
        return fact(holds, path, `${cacheRead}`, found, x);
      }),
    mutants: ["chat-cached-zero", "chat-cached-is-prompt", "chat-cached-lost"],
  },
  {
    id: "chat_reply.no-call-of-nothing",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat/object, message.tool_calls",
      text: "A reply without a tool call has no entry in `tool_calls`.",
    },
    judge: (e) =>
      chatReplies(e).filter((x) => fixtureContentOf(x).tools.length === 0).map(
        (x) => {
          const found = at(x.json, "choices.0.message.tool_calls") ?? [];
          return fact(
            Array.isArray(found) && found.length === 0,
            "choices.0.message.tool_calls",
            "nothing",
            found,
            x,
          );
        },
      ),
    mutants: ["chat-call-invented"],
  },
]);
