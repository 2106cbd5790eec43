/** Checks of the area `message_stream`: the first event. */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { MESSAGE_FORMS_STREAM } from "../message_reply/scenarios_forms.ts";
import { messageFrames, withAt } from "../../reference_gateway/change_reply.ts";
import { NotTestable, observed, wholeNumber } from "../../suite/finding.ts";
import { PING, start } from "./faults.ts";
import { event } from "../../reference_gateway/change_messages.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { messageStreams } from "../message_reply/reply_content.ts";
import { orderFindings, splitStream } from "./event_order.ts";

const SECTION = "Message endpoint stream";
const FORMS = [TEXT_SCENARIO, MESSAGE_FORMS_STREAM];

/**
 * The message in the first event of a stream.
 * @throws {NotTestable} when there is none
 */
function startOf(x: Exchange): Json {
  const [start] = splitStream(x).starts;
  const message = at(start?.json, "message");
  if (isObject(message)) return message;
  throw new NotTestable("no message_start with a message arrived", x);
}

export const MESSAGE_STREAM_START_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: FORMS,
  of: messageStreams,
}, [
  {
    id: "message_stream.first",
    section: SECTION,
    rule:
      "| message_start | `message` object with `id` and `usage.input_tokens` | First event |",
    each: (x) => {
      const id = at(startOf(x), "id");
      const input = at(startOf(x), "usage.input_tokens");
      return [
        ...orderFindings([x], "start", "message_start first and once"),
        observed("message.id", id, x, 0).mustBe(
          "a string",
          typeof id === "string" && id !== "",
        ),
        observed("message.usage.input_tokens", input, x, 0).mustBe(
          "an integer",
          wholeNumber(0)(input),
        ),
      ];
    },
    faults: {
      "message-start-late": messageFrames((data, _, frame) =>
        frame.event === "message_start"
          ? [{ event: "hello", data: { type: "hello" } }, frame]
          : data
      ),
      "message-start-twice": messageFrames((data, _, frame) =>
        frame.event === "message_start" ? [frame, frame] : data
      ),
      "message-start-missing": event("message_start", () => undefined),
      "message-start-id-missing": start("id", undefined),
      "message-start-usage-missing": start("usage", undefined),
      "message-start-input-text": start("usage.input_tokens", "25"),
      "message-ping-first": event(
        "message_start",
        (_data, _x, frame) => [PING, frame],
      ),
    },
  },
  {
    id: "message_stream.start-id",
    source: "Whole replies of this format have the prefix `msg_`",
    rule: "The id of message_start has the prefix of whole replies.",
    each: (x) => {
      const id = textAt(startOf(x), "id");
      return observed("message.id", id, x, 0).mustBe(
        "a string with the prefix msg_",
        /^msg_./.test(id),
      );
    },
    faults: { "message-start-id-bare": start("id", "42") },
  },
  {
    id: "message_stream.start-input",
    source:
      "Clients show how full the context is by the input tokens of message_start",
    rule:
      "The input tokens of message_start are above 0; they are estimated where the upstream reports them later.",
    each: (x) => {
      const input = at(startOf(x), "usage.input_tokens");
      return observed("message.usage.input_tokens", input, x, 0).mustBe(
        "an integer above 0",
        wholeNumber(1)(input),
      );
    },
    faults: {
      "message-start-input-0": messageFrames((data, _, frame) =>
        frame.event === "message_start"
          ? withAt(data, "message.usage.input_tokens", 0)
          : data
      ),
    },
  },
  {
    id: "message_stream.id-unique",
    source: "Clients keep messages by their ids",
    rule: "No two streams have the same id.",
    // As for whole replies, no fixture is requested twice on a route.
    judge: (e) => {
      const seen = new Map<string, string>();
      return messageStreams(e).map((x) => {
        const id = textAt(startOf(x), "id");
        const first = seen.get(id);
        seen.set(id, first ?? x.label);
        return observed(
          "message.id",
          first === undefined ? id : `${id}, as in ${first}`,
          x,
          0,
        ).mustBe("an id that no other stream has", first === undefined);
      });
    },
    faults: { "message-start-id-constant": start("id", "msg_1") },
  },
  {
    id: "message_stream.start-message",
    source:
      "The official TypeScript library and LangChain build the message from message_start",
    rule:
      "The message of message_start has type message, role assistant, the model, empty content, and null for values that are not known yet.",
    each: (x, e) => {
      const message = startOf(x);
      const asked = textAt(parseJson(x.request.body), "model");
      const model = at(message, "model");
      const expected: readonly (readonly [string, Json])[] = [
        ["type", "message"],
        ["role", "assistant"],
        ["content", []],
        ["stop_reason", null],
        ["stop_sequence", null],
      ];
      return [
        ...expected.map(([name, value]) =>
          observed(`message.${name}`, at(message, name), x, 0).mustBe(
            JSON.stringify(value),
            sameJson(at(message, name), value),
          )
        ),
        observed("message.model", model, x, 0).mustBe(
          e.mode === "replay" ? asked : "a string",
          e.mode === "replay"
            ? model === asked
            : typeof model === "string" && model !== "",
        ),
        observed(
          "message.usage.output_tokens",
          at(message, "usage.output_tokens"),
          x,
          0,
        ).mustBe(
          "an integer",
          wholeNumber(0)(at(message, "usage.output_tokens")),
        ),
      ];
    },
    faults: {
      "message-start-type-missing": start("type", undefined),
      "message-start-role-user": start("role", "user"),
      "message-start-model-other": start("model", "upstream-model-20260101"),
      "message-start-content-missing": start("content", undefined),
      "message-start-content-filled": start("content", [
        { type: "text", text: "" },
      ]),
      "message-start-stop-filled": start("stop_reason", "end_turn"),
    },
  },
]);
