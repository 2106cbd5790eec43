/**
 * Checks of the area `chat_reply` about the usage, and checks that compare with the fixture's
 * content.
 */
import {
  compare,
  fact,
  factOf,
  satisfies,
  valueAt,
  wholeNumber,
} from "../../suite/finding.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { at, listAt, numberAt } from "../../evidence/json_path.ts";
import { chatFinishNullInOwnDialect } from "../equivalence/faults.ts";
import { CACHED, put, usage } from "./faults.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { chatReplies, fixtureContentOf } from "../../endpoints/read_chat.ts";

export const SECTION =
  "Chat completion reply (from `POST /v1/chat/completions`, not streamed)";
export const CHOICES =
  "| choices | array | Each entry has `index` (integer), `message` (`role` = `assistant`, `content` string) and `finish_reason` (string, e.g. `stop`) |";
const CONTENTS = ["text", "chat-forms", "chat-contents"];

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
          factOf("usage", at(x.json, "usage"), x).mustBe(
            "parts that are not larger than the whole",
            count("prompt_tokens_details.cached_tokens") <=
                count("prompt_tokens") &&
              count("completion_tokens_details.reasoning_tokens") <=
                count("completion_tokens"),
          ),
          factOf("choices.0.message.refusal", refusal, x).mustBe(
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
      "chat-finish-null": put("choices.0.finish_reason", null),
    },
  },
  {
    id: "chat_reply.completion-exact",
    rule: "| usage.completion_tokens | integer | Output tokens |",
    each: (x) => {
      const { output } = fixtureContentOf(x).usage;
      const found = at(x.json, "usage.completion_tokens");
      return compare("usage.completion_tokens", found, output);
    },
    faults: {
      "chat-completion-doubled": usage((input, output) => [input, 2 * output]),
      "chat-usage-zero": usage(() => [0, 0]),
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
          return factOf("choices.0.message.tool_calls", found, x).mustBe(
            "nothing",
            Array.isArray(found) && found.length === 0,
          );
        },
      ),
    faults: {
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
