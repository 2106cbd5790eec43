/** Checks of the area `chat_reply`: every field of a whole reply of the chat endpoint. */
import {
  demanded,
  equals,
  fact,
  NotTestable,
  observed,
  valueAt,
  wholeNumber,
} from "../../suite/finding.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { chatReply, withAt } from "../../reference_gateway/change_reply.ts";
import {
  IS_WORD,
  literal,
  oneOf,
  prefixed,
  words,
} from "../../reference_gateway/field.ts";
import {
  chatStreamFalseStreams,
  CONTENT,
  contentType,
  field,
  FINISH,
  finish,
} from "./faults.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";
import { headerOf } from "../../evidence/exchange.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { CUT_AT } from "./scenarios.ts";
import {
  chatReplies,
  FINISH_REASONS,
  isType,
  requestedModel,
} from "./reply_content.ts";
import { CHAT_REPLY_EXACT_CHECKS } from "./checks_exact.ts";
import { CHAT_OWN_UPSTREAM_CHECKS } from "./checks_own_upstream.ts";

const SECTION =
  "Chat completion reply (from `POST /v1/chat/completions`, not streamed)";
const CHOICES =
  "| choices | array | Each entry has `index` (integer), `message` (`role` = `assistant`, `content` string) and `finish_reason` (string, e.g. `stop`) |";
const REFERENCE =
  "https://platform.openai.com/docs/api-reference/chat/object, the chat completion object";
const FORMS = [TEXT_SCENARIO, "chat-forms"];

/** Bounds of a time in seconds since 1970: 2020 to 2100 or so. Milliseconds are far above. */
const SECONDS = { from: 1_577_836_800, to: 4_102_444_800 } as const;

export const CHAT_REPLY_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: chatReplies,
}, [
  {
    id: "chat_reply.content-type",
    section: "Endpoints",
    rule: "All bodies are JSON (`content-type: application/json`).",
    reads: [TEXT_SCENARIO],
    each: (x) => {
      const type = headerOf(x, "content-type");
      return observed("content-type", type).mustBe(
        "application/json",
        isType("application/json", type),
      );
    },
    faults: {
      "chat-reply-as-text": contentType("text/plain"),
      "chat-reply-as-stream": contentType("text/event-stream"),
      "chat-reply-as-latin1": contentType(
        "application/json; charset=iso-8859-1",
      ),
    },
  },
  {
    id: "chat_reply.stream-false",
    section: "POST /v1/chat/completions (operation `createChatCompletion`)",
    rule:
      "| stream | boolean | no | Default false. true returns event chunks |",
    reads: ["chat-stream-false"],
    matching: "chat/*/whole",
    each: (x) =>
      observed("reply", `${x.head?.status}: ${x.text.slice(0, 160)}`).mustBe(
        "one JSON object",
        x.head?.status === 200 && isObject(x.json) && x.frames.length === 0,
      ),
    faults: { "chat-stream-false-streams": chatStreamFalseStreams },
  },
  {
    id: "chat_reply.id",
    rule: "| id | string | Identifier, prefix `chatcmpl-` |",
    ...field("id", prefixed("chatcmpl-"), {
      "chat-id-of-messages": "msg_1",
      "chat-id-missing": undefined,
      "chat-id-only-prefix": "chatcmpl-",
    }),
  },
  {
    id: "chat_reply.id-is-a-word",
    source: "Clients keep replies by their ids, in paths and file names",
    rule: "An id is one word of letters, digits and `_-.:`.",
    ...field("id", IS_WORD, {
      "chat-id-with-blank": (body) => `${textAt(body, "id")} `,
    }),
  },
  {
    id: "chat_reply.id-unique",
    source: REFERENCE,
    rule: "A unique identifier for the reply.",
    judge: (e) => {
      // The replay upstream uses the same id whenever it plays a fixture, and a gateway may pass it
      // on.
      const seen = new Map<string, string>();
      return chatReplies(e).map((x) => {
        const id = at(x.json, "id");
        const key = JSON.stringify(id);
        const [, , , fixture = "text"] = x.label.split("/");
        const other = seen.get(key);
        seen.set(key, fixture);
        return observed("id", id, x).mustBe(
          `another id than that of ${other}`,
          other === undefined || other === fixture,
        );
      });
    },
    faults: { "chat-id-constant": put("id", "chatcmpl-1") },
  },
  {
    id: "chat_reply.object",
    rule: "| object | string | `chat.completion` |",
    ...field("object", literal("chat.completion"), {
      "chat-object-chunk": "chat.completion.chunk",
      "chat-object-missing": undefined,
    }),
  },
  {
    id: "chat_reply.created",
    source: REFERENCE,
    rule:
      "The Unix timestamp (in seconds) of when the chat completion was created.",
    ...field("created", {
      expected: "whole seconds since 1970",
      test: (value) =>
        wholeNumber(SECONDS.from)(value) && Number(value) < SECONDS.to,
    }, {
      "chat-created-in-ms": 1_780_000_000_000,
      "chat-created-as-text": "1780000000",
      "chat-created-missing": undefined,
      "chat-created-zero": 0,
      "chat-created-fraction": 1_780_000_000.5,
    }),
  },
  {
    id: "chat_reply.model",
    rule: "| model | string | Model id used |",
    mode: "replay",
    each: (x) => equals(x, "model", requestedModel(x)),
    faults: {
      "chat-model-missing": put("model", undefined),
      "chat-model-other": put("model", "some-model"),
      "chat-model-upper": put(
        "model",
        (body) => textAt(body, "model").toUpperCase(),
      ),
    },
  },
  {
    id: "chat_reply.model-told",
    rule: "| model | string | Model id used |",
    ...field("model", words("a model id"), { "chat-model-empty": "" }, {
      ...shared("chat-model-missing"),
    }),
  },
  {
    id: "chat_reply.one-choice",
    rule: CHOICES,
    ...field("choices", {
      expected: "an array of choices",
      test: (value) =>
        Array.isArray(value) && value.length > 0 &&
        value.every((choice: Json) => isObject(choice)),
    }, {
      "chat-choices-empty": [],
      "chat-choices-object": (body) => at(body, "choices.0"),
      "chat-choices-missing": undefined,
    }),
  },
  {
    id: "chat_reply.no-more-choices",
    source:
      "https://platform.openai.com/docs/api-reference/chat/create, n is 1 by default",
    rule: "A request for one reply gets one choice, with index 0.",
    each: (x) => [
      observed("choices", at(x.json, "choices")).mustBe(
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
    ...field("choices.0.index", {
      expected: "an integer",
      test: wholeNumber(0),
    }, {
      "chat-choice-index-missing": undefined,
      "chat-choice-index-text": "0",
    }),
  },
  {
    id: "chat_reply.role",
    rule: CHOICES,
    ...field("choices.0.message.role", literal("assistant"), {
      "chat-role-missing": undefined,
      "chat-role-model": "model",
    }, {
      "chat-message-missing": put("choices.0", (body) => ({
        index: 0,
        delta: at(body, "choices.0.message"),
        finish_reason: at(body, FINISH),
      })),
    }),
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
      return observed("choices.0.message.content", content).mustBe(
        "a string, or null beside calls",
        typeof content === "string" || none,
      );
    },
    faults: shared("chat-content-null", "chat-content-missing"),
  },
  {
    id: "chat_reply.finish_reason",
    rule: CHOICES,
    each: (x) =>
      valueAt(x, "choices.0.finish_reason").mustBe(
        "a string",
        (value) => typeof value === "string" && value !== "",
      ),
    faults: {
      "chat-finish-on-message": chatReply((body) =>
        withAt(
          withAt(body, "choices.0.message.finish_reason", at(body, FINISH)),
          FINISH,
          undefined,
        )
      ),
      ...shared("chat-finish-null"),
    },
  },
  {
    id: "chat_reply.finish-words",
    source: `${REFERENCE}, choices[].finish_reason`,
    rule:
      "`finish_reason` is one of stop, length, tool_calls, content_filter and function_call.",
    ...field("choices.0.finish_reason", oneOf(FINISH_REASONS), {
      "chat-finish-upper": (body) => textAt(body, FINISH).toUpperCase(),
    }, { "chat-finish-end_turn": finish("stop", "end_turn") }),
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
      ...shared("chat-length-as-stop"),
    },
  },
  ...CHAT_REPLY_EXACT_CHECKS,
  ...CHAT_OWN_UPSTREAM_CHECKS,
]);
