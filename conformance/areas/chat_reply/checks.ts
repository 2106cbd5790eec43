/** Checks of the area `chat_reply`: every field of a whole reply of the chat endpoint. */
import {
  demanded,
  equals,
  fact,
  factOf,
  NotTestable,
  valueAt,
} from "../../suite/finding.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { chatReply, withAt } from "../../faults/change_reply.ts";
import {
  IS_SECONDS,
  literal,
  objects,
  oneOf,
  whole,
  words,
} from "../../faults/field.ts";
import { CONTENT, field, FINISH, finish, put } from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { CUT_AT } from "./scenarios.ts";
import { chatReplies, FINISH_REASONS } from "../../endpoints/read_chat.ts";
import { checksOfEvery } from "../replies/checks.ts";
import { CHAT_REPLY_EXACT_CHECKS, CHOICES, SECTION } from "./checks_exact.ts";
import { CHAT_OWN_UPSTREAM_CHECKS } from "./checks_own_upstream.ts";

const REFERENCE =
  "https://platform.openai.com/docs/api-reference/chat/object, the chat completion object";
const FORMS = [TEXT_SCENARIO, "chat-forms"];

export const CHAT_REPLY_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: chatReplies,
}, [
  {
    id: "chat_reply.object",
    rule: "| object | string | `chat.completion` |",
    ...field("object", literal("chat.completion")),
  },
  {
    id: "chat_reply.created",
    source: REFERENCE,
    rule:
      "The Unix timestamp (in seconds) of when the chat completion was created.",
    ...field("created", IS_SECONDS),
  },
  {
    id: "chat_reply.one-choice",
    rule: CHOICES,
    ...field("choices", objects(1)),
    faults: {
      "chat-choices-object": put("choices", (body) => at(body, "choices.0")),
    },
  },
  {
    id: "chat_reply.no-more-choices",
    source:
      "https://platform.openai.com/docs/api-reference/chat/create, n is 1 by default",
    rule: "A request for one reply gets one choice, with index 0.",
    each: (x) => [
      factOf("choices", at(x.json, "choices")).mustBe(
        "one",
        listAt(x.json, "choices").length === 1,
      ),
      equals(x, "choices.0.index", 0),
    ],
    faults: {
      "chat-choice-twice": put(
        "choices",
        (body) => [...listAt(body, "choices"), ...listAt(body, "choices")],
      ),
      "chat-choice-index-1": put("choices.0.index", 1),
    },
  },
  {
    id: "chat_reply.choice-index",
    rule: CHOICES,
    ...field("choices.0.index", whole(0)),
  },
  {
    id: "chat_reply.role",
    rule: CHOICES,
    ...field("choices.0.message.role", literal("assistant")),
    faults: {
      "chat-message-missing": put("choices.0", (body) => ({
        index: 0,
        delta: at(body, "choices.0.message"),
        finish_reason: at(body, FINISH),
      })),
    },
  },
  {
    id: "chat_reply.content-string",
    rule: CHOICES,
    reads: [TEXT_SCENARIO],
    each: (x, e) => {
      const path = "choices.0.message.content";
      const isText = valueAt(x, path).mustBe(
        "a string",
        (value) => typeof value === "string",
      );
      if (isText.verdict === "fail") return isText;
      const text = at(x.json, path);
      // A model may spend the whole limit on thinking.
      const cut = at(x.json, "choices.0.finish_reason") === "length";
      return demanded(e)(
        text !== "" || cut,
        path,
        "a string with text",
        text,
        x,
      );
    },
    faults: {
      "chat-content-null": put(
        CONTENT,
        (body) =>
          listAt(body, "choices.0.message.tool_calls").length > 0 ? "" : null,
      ),
      "chat-content-parts": put(
        CONTENT,
        (body) => [{ type: "text", text: textAt(body, CONTENT) }],
      ),
      "chat-content-missing": put(CONTENT, undefined),
      "chat-content-as-text": chatReply((body) =>
        withAt(withAt(body, "choices.0.text", at(body, CONTENT)), CONTENT, "")
      ),
    },
  },
  {
    id: "chat_reply.content-or-calls",
    source: REFERENCE,
    rule:
      "`message.content` is a string or null; it is null only beside tool calls, a refusal or an empty answer.",
    mode: "replay",
    reads: [TEXT_SCENARIO, "chat-forms", "chat-oddities"],
    each: (x) => {
      const message = at(x.json, "choices.0.message");
      const content = at(message, "content");
      const none = content === null &&
        (listAt(message, "tool_calls").length > 0 ||
          typeof at(message, "refusal") === "string" ||
          numberAt(x.json, "usage.completion_tokens") === 0 ||
          x.label.endsWith("/empty"));
      return factOf("choices.0.message.content", content).mustBe(
        "a string, or null beside calls",
        typeof content === "string" || none,
      );
    },
    faults: sharedFaults("chat-content-null", "chat-content-missing"),
  },
  {
    id: "chat_reply.finish_reason",
    rule: CHOICES,
    ...field("choices.0.finish_reason", words("a string")),
    faults: {
      "chat-finish-on-message": chatReply((body) =>
        withAt(
          withAt(body, "choices.0.message.finish_reason", at(body, FINISH)),
          FINISH,
          undefined,
        )
      ),
    },
  },
  {
    id: "chat_reply.finish-words",
    source: `${REFERENCE}, choices[].finish_reason`,
    rule:
      "`finish_reason` is one of stop, length, tool_calls, content_filter and function_call.",
    ...field("choices.0.finish_reason", oneOf(FINISH_REASONS)),
    faults: { "chat-finish-end_turn": finish("stop", "end_turn") },
  },
  {
    id: "chat_reply.finish-length",
    rule: CHOICES,
    level: "convention",
    reads: ["chat-forms"],
    judge: (e) => {
      const found = e.replies("chat/*/whole/max-tokens");
      if (found.length === 0) throw new NotTestable("no reply was truncated");
      return found.map((x) => {
        const path = "choices.0.finish_reason";
        // A model that ends before its limit was not truncated.
        const outputTokens = numberAt(x.json, "usage.completion_tokens") ?? 0;
        const judged = outputTokens < CUT_AT ? demanded(e) : fact;
        const reason = at(x.json, path);
        return judged(reason === "length", path, "length", reason, x);
      });
    },
    faults: {
      "chat-length-as-max_tokens": finish("length", "max_tokens"),
      "chat-length-as-stop": finish("length", "stop"),
    },
  },
  ...checksOfEvery("chat_reply"),
  ...CHAT_REPLY_EXACT_CHECKS,
  ...CHAT_OWN_UPSTREAM_CHECKS,
]);
