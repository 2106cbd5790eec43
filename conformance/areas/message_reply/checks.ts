/** Checks of the area `message_reply`: every field of a whole reply of the message endpoint. */
import {
  equals,
  fact,
  type Finding,
  observed,
  satisfies,
  valueAt,
  wholeNumber,
} from "../../suite/finding.ts";
import {
  IS_WORD,
  literal,
  oneOf,
  prefixed,
} from "../../reference_gateway/field.ts";
import { field, messageSequenceNull, put, withHeaders } from "./faults.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { block } from "../../reference_gateway/change_messages.ts";
import { messageReply } from "../../reference_gateway/change_reply.ts";
import { chatStreamFalseStreams } from "../chat_reply/faults.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { isObject, parseJson } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { wholeReplies } from "./reply_content.ts";
import { MESSAGE_REPLY_EXACT_CHECKS } from "./checks_exact.ts";
import { MESSAGE_OWN_UPSTREAM_CHECKS } from "./checks_own_upstream.ts";

const SECTION = "Message reply (from `POST /v1/messages`, not streamed)";
const FORMS = ["text", "message-forms-whole"];

const STOP_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use"];

/** No character of a reply was damaged or replaced. */
export function characters(x: Exchange): Finding {
  return observed("characters", x.validUtf8 ? "U+FFFD" : "no UTF-8", x).mustBe(
    "UTF-8 without U+FFFD",
    x.validUtf8 && !x.text.includes("\uFFFD"),
  );
}

const FIELDS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: wholeReplies,
}, [
  {
    id: "message_reply.stream-false",
    section: "POST /v1/messages",
    rule:
      "| stream | boolean | no | Default false. true returns server-sent events |",
    reads: ["message-stream-false"],
    matching: "messages/*/whole",
    each: (x) =>
      observed("reply", `${x.head?.status}: ${x.text.slice(0, 160)}`).mustBe(
        "one JSON object",
        x.head?.status === 200 && isObject(x.json) && x.frames.length === 0,
      ),
    faults: { "chat-stream-false-streams": chatStreamFalseStreams },
  },
  {
    id: "message_reply.id",
    rule: "| id | string | Message identifier, prefix `msg_` |",
    ...field("id", prefixed("msg_"), {
      "message-id-without-prefix": "0b0e7a36-5ad4-4a1f-9c65-3e6a1d1f3c11",
      "message-id-prefix-only": "msg_",
    }),
  },
  {
    id: "message_reply.id-is-a-word",
    source: "Clients keep messages by their ids, in paths and file names",
    rule: "An id is one word of letters, digits and `_-.:`.",
    ...field("id", IS_WORD, {
      "message-id-with-blank": (body) => `${textAt(body, "id")} `,
    }),
  },
  {
    id: "message_reply.id-unique",
    source: "Clients keep messages by their ids",
    rule: "No two replies have the same id.",
    // The replay upstream uses one id whenever it plays a fixture, and a gateway may pass it on:
    // replies of different fixtures are compared.
    judge: (e) => {
      const seen = new Map<string, string>();
      return wholeReplies(e).map((x) => {
        const id = textAt(x.json, "id");
        const first = seen.get(id);
        seen.set(id, first ?? x.label);
        return observed(
          "id",
          first === undefined ? id : `${id}, as in ${first}`,
          x,
        ).mustBe("an id that no other reply has", first === undefined);
      });
    },
    faults: { "message-id-constant": put("id", "msg_1") },
  },
  {
    id: "message_reply.type",
    rule: "| type | string | Always `message` |",
    ...field("type", literal("message"), {
      "message-type-missing": undefined,
      "message-type-chat": "chat.completion",
    }),
  },
  {
    id: "message_reply.role",
    rule: "| role | string | `assistant` |",
    ...field("role", literal("assistant"), {
      "message-role-model": "model",
      "message-role-missing": undefined,
    }),
  },
  {
    id: "message_reply.model",
    rule: "| model | string | Model id used |",
    // A real vendor may reply with the dated name of the requested model.
    each: (x, e) =>
      e.mode === "replay"
        ? equals(x, "model", textAt(parseJson(x.request.body), "model"))
        : valueAt(x, "model").mustBe(
          "a string",
          (model) => typeof model === "string" && model !== "",
        ),
    faults: {
      "message-model-missing": put("model", undefined),
      "message-model-empty": put("model", ""),
      "message-model-other": put("model", "upstream-model-20260101"),
    },
  },
  {
    id: "message_reply.content",
    rule:
      "| content | array of blocks | Text blocks have `type` = `text` and a `text` string. Tool calls have `type` = `tool_use`. |",
    each: (x) => [
      satisfies(x, "content", "an array of blocks", Array.isArray),
      ...listAt(x.json, "content").map((block, index) => {
        const type = textAt(block, "type");
        return observed(`content.${index}`, block).mustBe(
          "a block with a type; a text block has a text, other blocks have none",
          type !== "" &&
            (type === "text") === (typeof at(block, "text") === "string"),
        );
      }),
    ],
    faults: {
      "message-content-text": put("content", "Hello!"),
      "message-block-type-missing": put("content.0.type", undefined),
      "message-block-type-other": put("content.0.type", "output_text"),
      "message-text-null": block("text", { text: null }),
    },
  },
  {
    id: "message_reply.tool-block",
    source: "https://platform.claude.com/docs/en/api/messages, tool_use",
    rule:
      "A tool_use block has an id of letters, digits, _ and - that no other block has, a name, and an input that is an object.",
    each: (x) => {
      const calls = listAt(x.json, "content").filter((block) =>
        at(block, "type") === "tool_use"
      );
      const ids = calls.map((call) => textAt(call, "id"));
      const whole = calls.every((call, index) =>
        /^[\w-]+$/.test(textAt(call, "id")) &&
        ids.indexOf(textAt(call, "id")) === index &&
        textAt(call, "name") !== "" && isObject(at(call, "input"))
      );
      return [fact(whole, "tool_use blocks", "id, name, input", calls)];
    },
    faults: {
      "message-tool-input-text": block(
        "tool_use",
        (each) => ({ ...each, input: JSON.stringify(each["input"]) }),
      ),
      "message-tool-input-null": block("tool_use", { input: null }),
      "message-tool-id-missing": block("tool_use", { id: undefined }),
      "message-tool-id-empty": block("tool_use", { id: "" }),
      "message-tool-name-missing": block("tool_use", { name: undefined }),
    },
  },
  {
    id: "message_reply.stop_reason",
    rule:
      "| stop_reason | string | One of `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` |",
    ...field("stop_reason", oneOf(STOP_REASONS), {
      "stop_reason-of-chat": "stop",
      "message-stop-null": null,
    }),
  },
  {
    id: "message_reply.stop_sequence",
    rule:
      "| stop_sequence | string or null | The stop sequence hit, else null |",
    each: (x) => {
      const hit = at(x.json, "stop_reason") === "stop_sequence";
      return valueAt(x, "stop_sequence").mustBe(
        hit ? "the stop sequence" : "null",
        (value) => hit ? value === "END" : value === null,
      );
    },
    faults: {
      "message-sequence-missing": put("stop_sequence", undefined),
      "message-sequence-empty": put("stop_sequence", ""),
      "message-sequence-null": messageSequenceNull,
    },
  },
  {
    id: "message_reply.usage",
    rule: "| usage.output_tokens | integer | Billed output tokens |",
    each: (x) => [
      satisfies(x, "usage.input_tokens", "an integer", wholeNumber(0)),
      satisfies(x, "usage.output_tokens", "an integer", wholeNumber(0)),
    ],
    faults: {
      "message-usage-as-text": put("usage.output_tokens", "12"),
      "message-usage-missing": put("usage", undefined),
      // The usage has the chat format's field names.
      "message-usage-of-chat": messageReply((body) => ({
        ...body,
        usage: {
          prompt_tokens: numberAt(body, "usage.input_tokens") ?? 0,
          completion_tokens: numberAt(body, "usage.output_tokens") ?? 0,
        },
      })),
      "message-usage-fraction": put("usage.output_tokens", 12.5),
    },
  },
  {
    id: "message_reply.input-counted",
    source: "No vendor bills a request that has text as 0 tokens",
    rule: "The input tokens of a whole reply are above 0.",
    ...field("usage.input_tokens", {
      expected: "an integer above 0",
      test: wholeNumber(1),
    }, { "message-input-tokens-0": 0 }),
  },
  {
    id: "message_reply.characters",
    source: "RFC 8259, 8.1",
    rule: "JSON is UTF-8, and no character is replaced by U+FFFD.",
    each: characters,
    faults: {
      "message-replacement-character": block(
        "text",
        (each) => ({ ...each, text: `${textAt(each, "text")}\uFFFD` }),
      ),
    },
  },
  {
    id: "message_reply.json",
    section: "Endpoints",
    rule: "All bodies are JSON (`content-type: application/json`).",
    each: (x) => {
      const type = headerOf(x, "content-type");
      return [
        observed("content-type", type).mustBe(
          "application/json",
          /^application\/json *(;|$)/i.test(type ?? ""),
        ),
        fact(x.ending === "complete", "body", "complete", x.ending),
      ];
    },
    faults: {
      "message-json-as-text": withHeaders((headers) => ({
        ...headers,
        "content-type": "text/plain",
      })),
      "message-type-header-missing": withHeaders((
        { "content-type": _, ...headers },
      ) => headers),
    },
  },
  {
    id: "message_reply.own-shape",
    source:
      "Clients of both formats recognise a reply's format by its members, as the AI SDK and LangChain do",
    rule: "A message reply has none of the chat completion's members.",
    each: (x) => {
      const foreign = at(x.json, "choices") !== undefined ||
        textAt(x.json, "object").startsWith("chat.completion");
      return fact(!foreign, "members", "no chat member", x.json);
    },
    faults: {
      "message-reply-with-choices": messageReply((body) => ({
        ...body,
        object: "chat.completion",
        choices: [],
      })),
    },
  },
]);

export const MESSAGE_REPLY_CHECKS: readonly Check[] = [
  ...FIELDS,
  ...MESSAGE_REPLY_EXACT_CHECKS,
  ...MESSAGE_OWN_UPSTREAM_CHECKS,
];
