/**
 * Checks of the area `chat_reply` about the usage, and checks that compare with the fixture's
 * content.
 */
import {
  fact,
  type Finding,
  observed,
  satisfies,
  valueAt,
  wholeNumber,
} from "../../suite/finding.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { at, listAt, numberAt } from "../../evidence/json_path.ts";
import { chatFinishNullInOwnDialect } from "../equivalence/faults.ts";
import {
  CACHED,
  changeText,
  chatLengthAsStop,
  FINISH,
  finish,
  usage,
} from "./faults.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import type { Part } from "../../reference_gateway/part.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
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
    return observed("choices.0.message.content", found.slice(0, 200), x).mustBe(
      expected.slice(0, 200),
      found === expected,
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
    return observed("choices.0.finish_reason", found, x).mustBe(
      expected.join(" or ") || "a reason",
      typeof found === "string" && found !== "" &&
        (expected.length === 0 || expected.includes(found)),
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

export const CHAT_REPLY_EXACT_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "replay",
  reads: CONTENTS,
  of: chatReplies,
}, [
  {
    id: "chat_reply.usage-sum",
    rule: "| usage.total_tokens | integer | Sum of the two |",
    mode: "both",
    reads: [TEXT_SCENARIO, "chat-forms"],
    each: (x) => {
      const sum = (numberAt(x.json, "usage.prompt_tokens") ?? NaN) +
        (numberAt(x.json, "usage.completion_tokens") ?? NaN);
      const total = at(x.json, "usage.total_tokens");
      return [
        satisfies(x, "usage.prompt_tokens", "an integer", wholeNumber(0)),
        satisfies(x, "usage.completion_tokens", "an integer", wholeNumber(0)),
        fact(total === sum, "usage.total_tokens", `${sum}`, total),
      ];
    },
    faults: {
      "chat-total-is-prompt": put(
        "usage.total_tokens",
        (body) => at(body, "usage.prompt_tokens"),
      ),
      "chat-usage-missing": put("usage", undefined),
      "chat-total-missing": put("usage.total_tokens", undefined),
      "chat-usage-as-text": put(
        "usage.completion_tokens",
        (body) => `${numberAt(body, "usage.completion_tokens")}`,
      ),
      "chat-usage-null": put("usage", null),
      "chat-usage-of-messages": put("usage", (body) => ({
        input_tokens: at(body, "usage.prompt_tokens"),
        output_tokens: at(body, "usage.completion_tokens"),
      })),
    },
  },
  {
    id: "chat_reply.usage-parts",
    source: "https://platform.openai.com/docs/api-reference/chat/object, usage",
    rule:
      "Cached and reasoning tokens are parts of the prompt and of the completion, and `refusal` is a text or null.",
    mode: "both",
    reads: [TEXT_SCENARIO, "chat-forms"],
    judge: (e) =>
      chatReplies(e).flatMap((x) => {
        const count = (path: string): number =>
          numberAt(x.json, `usage.${path}`) ?? 0;
        const refusal = at(x.json, "choices.0.message.refusal") ?? null;
        return [
          observed("usage", at(x.json, "usage"), x).mustBe(
            "parts that are not larger than the whole",
            count("prompt_tokens_details.cached_tokens") <=
                count("prompt_tokens") &&
              count("completion_tokens_details.reasoning_tokens") <=
                count("completion_tokens"),
          ),
          observed("choices.0.message.refusal", refusal, x).mustBe(
            "a text, null or absent",
            refusal === null || typeof refusal === "string",
          ),
        ];
      }),
    faults: {
      "chat-cached-beyond-prompt": put(CACHED, 1e6),
      "chat-reasoning-beyond-completion": put(
        "usage.completion_tokens_details.reasoning_tokens",
        1e6,
      ),
      "chat-refusal-is-false": put("choices.0.message.refusal", false),
    },
  },
  {
    id: "chat_reply.text-exact",
    rule: TEXT_RULE,
    level: "documented",
    judge: texts,
    faults: {
      "chat-text-trimmed": changeText((text) => text.trim().replace(/\.$/, "")),
      "chat-text-latin1": changeText((text) =>
        [...new TextEncoder().encode(text)].map((byte) =>
          String.fromCharCode(byte)
        ).join("")
      ),
      "chat-text-nfc": changeText((text) => text.normalize("NFKD")),
      "chat-text-doubled": changeText((text) => text + text),
      "chat-text-escaped": changeText((text) =>
        text.replaceAll("'", "&#39;").replaceAll('"', "&quot;")
      ),
      // Only the first piece of the text is sent.
      "chat-text-first-part": {
        part: (part, { endpoint, stream, state }) => {
          if (endpoint !== "chat" || stream || part.type !== "text") {
            return [part];
          }
          if (state.has("sent")) return [];
          state.set("sent", true);
          return [part];
        },
      },
      "chat-thinking-leaks": {
        part: (part, { endpoint }): readonly Part[] =>
          endpoint === "chat" && part.type === "thinking"
            ? [{ type: "text", text: part.text }]
            : [part],
      },
    },
  },
  {
    id: "chat_reply.text-exact-odd-upstreams",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-oddities"],
    judge: texts,
    faults: shared("chat-text-first-part", "chat-text-escaped"),
  },
  {
    id: "chat_reply.text-exact-long",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-sizes"],
    judge: texts,
    faults: { "chat-text-cut": changeText((text) => text.slice(0, 1024)) },
  },
  {
    id: "chat_reply.utf8",
    source: "RFC 8259, section 8.1",
    rule:
      "JSON is UTF-8, and no character of the answer is replaced by U+FFFD.",
    each: (x) =>
      observed("body", x.text.slice(0, 200)).mustBe(
        "valid UTF-8 without U+FFFD",
        x.validUtf8 && !x.text.includes("\ufffd") &&
          !x.text.includes("\\ufffd"),
      ),
    faults: {
      "chat-text-replaced": changeText((
        text,
      ) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")),
    },
  },
  {
    id: "chat_reply.finish-exact",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
    rule:
      "`finish_reason` is stop, length when the limit was reached, tool_calls when the model called a tool.",
    judge: (e) => reasons(e, isSpecified),
    faults: {
      "chat-length-as-stop": chatLengthAsStop,
      "chat-reply-tools-as-stop": finish("tool_calls", "stop"),
      "chat-stop-as-length": finish("stop", "length"),
      "chat-finish-null": put(FINISH, null),
    },
  },
  {
    id: "chat_reply.finish-exact-odd-upstreams",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
    rule:
      "`finish_reason` is stop, length when the limit or the window is full, content_filter when content is withheld, tool_calls when the model called a tool.",
    reads: ["chat-contents", "chat-oddities"],
    judge: (e) =>
      reasons(e, (x) => x.scenario === "chat-oddities" || !isSpecified(x)),
    faults: {
      "chat-filter-as-stop": finish("content_filter", "stop"),
      ...shared("chat-finish-null"),
    },
  },
  {
    id: "chat_reply.finish-when-upstream-tells-none",
    rule: CHOICES,
    reads: ["chat-oddities"],
    replies: "chat/*/whole/done-no-finish",
    each: (x) =>
      valueAt(x, "choices.0.finish_reason").mustBe(
        "a reason",
        (value) => typeof value === "string" && value !== "",
      ),
    faults: {
      "chat-finish-null-in-own-dialect": chatFinishNullInOwnDialect,
      ...shared("chat-finish-null"),
    },
  },
  {
    id: "chat_reply.usage-exact",
    rule: "| usage.prompt_tokens | integer | Input tokens |",
    judge: tokens,
    faults: {
      "chat-usage-off-by-one": usage((input, output) => [input + 1, output]),
      "chat-usage-swapped": usage((input, output) => [output, input]),
      "chat-usage-zero": usage(() => [0, 0]),
      "chat-cache-not-counted": usage((
        input,
        output,
        cached,
      ) => [input - cached, output]),
      "chat-cache-counted-twice": usage((
        input,
        output,
        cached,
      ) => [input + cached, output]),
    },
  },
  {
    id: "chat_reply.usage-exact-odd-upstreams",
    rule: "| usage.total_tokens | integer | Sum of the two |",
    reads: ["chat-oddities"],
    judge: tokens,
    faults: shared("chat-usage-off-by-one"),
  },
  {
    id: "chat_reply.completion-exact",
    rule: "| usage.completion_tokens | integer | Output tokens |",
    each: (x) => {
      const { output } = fixtureContentOf(x).usage;
      const found = at(x.json, "usage.completion_tokens");
      return observed("usage.completion_tokens", found).mustBe(
        `${output}`,
        found === output,
      );
    },
    faults: {
      "chat-completion-doubled": usage((input, output) => [input, 2 * output]),
      ...shared("chat-usage-zero"),
    },
  },
  {
    id: "chat_reply.cached-tokens",
    source:
      "https://platform.openai.com/docs/guides/prompt-caching, usage.prompt_tokens_details",
    rule:
      "`cached_tokens` is the number of prompt tokens read from the cache; it is included in `prompt_tokens`.",
    each: (x) => {
      const { cacheRead } = fixtureContentOf(x).usage;
      const path = "usage.prompt_tokens_details.cached_tokens";
      const found = at(x.json, path) ?? undefined;
      // The field may be absent where the count is 0.
      const holds = found === cacheRead ||
        (found === undefined && cacheRead === 0);
      return fact(holds, path, `${cacheRead}`, found);
    },
    faults: {
      "chat-cached-zero": put(CACHED, 0),
      "chat-cached-is-prompt": put(
        CACHED,
        (body) => at(body, "usage.prompt_tokens"),
      ),
      "chat-cached-lost": put("usage.prompt_tokens_details", undefined),
    },
  },
  {
    id: "chat_reply.no-call-of-nothing",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, message.tool_calls",
    rule: "A reply without a tool call has no entry in `tool_calls`.",
    judge: (e) =>
      chatReplies(e).filter((x) => fixtureContentOf(x).tools.length === 0).map(
        (x) => {
          const found = at(x.json, "choices.0.message.tool_calls") ?? [];
          return observed("choices.0.message.tool_calls", found, x).mustBe(
            "nothing",
            Array.isArray(found) && found.length === 0,
          );
        },
      ),
    faults: {
      // A reply without calls has an empty call.
      "chat-call-invented": put(
        "choices.0.message.tool_calls",
        (body) =>
          listAt(body, "choices.0.message.tool_calls").length > 0
            ? at(body, "choices.0.message.tool_calls")
            : [{
              id: "",
              type: "function",
              function: { name: "", arguments: "" },
            }],
      ),
    },
  },
]);
