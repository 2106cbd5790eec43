/** Checks of the area `message_reply`: every field of a whole reply of the message endpoint. */
import { fact, factOf, satisfies, valueAt } from "../../suite/finding.ts";
import { literal, oneOf, whole } from "../../faults/field.ts";
import { field, fields, messageSequenceNull, put } from "./faults.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { block } from "../../faults/change_messages.ts";
import { messageReply } from "../../faults/change_reply.ts";
import { isObject } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { wholeReplies } from "../../endpoints/read_messages.ts";
import { checksOfEvery } from "../replies/checks.ts";
import { MESSAGE_OWN_UPSTREAM_CHECKS } from "./checks_own_upstream.ts";

const SECTION = "Message reply (from `POST /v1/messages`, not streamed)";
const FORMS = ["text", "message-forms-whole"];

const STOP_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use"];

const FIELDS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: wholeReplies,
}, [
  {
    id: "message_reply.type",
    rule: "| type | string | Always `message` |",
    ...field("type", literal("message")),
  },
  {
    id: "message_reply.content",
    rule:
      "| content | array of blocks | Text blocks have `type` = `text` and a `text` string. Tool calls have `type` = `tool_use`. |",
    each: (x) => [
      satisfies(x, "content", "an array of blocks", Array.isArray),
      ...listAt(x.json, "content").map((block, index) => {
        const type = textAt(block, "type");
        return factOf(`content.${index}`, block).mustBe(
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
    ...field("stop_reason", oneOf(STOP_REASONS)),
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
    ...fields({
      "usage.input_tokens": whole(0),
      "usage.output_tokens": whole(0),
    }),
    faults: {
      "message-usage-missing": put("usage", undefined),
      "message-usage-of-chat": messageReply((body) => ({
        ...body,
        usage: {
          prompt_tokens: numberAt(body, "usage.input_tokens") ?? 0,
          completion_tokens: numberAt(body, "usage.output_tokens") ?? 0,
        },
      })),
    },
  },
  {
    id: "message_reply.input-counted",
    source: "No vendor bills a request that has text as 0 tokens",
    rule: "The input tokens of a whole reply are above 0.",
    ...field("usage.input_tokens", whole(1, "an integer above 0")),
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
      "message-reply-with-choices": messageReply({
        object: "chat.completion",
        choices: [],
      }),
    },
  },
]);

export const MESSAGE_REPLY_CHECKS: readonly Check[] = [
  ...FIELDS,
  ...checksOfEvery("message_reply"),
  ...MESSAGE_OWN_UPSTREAM_CHECKS,
];
