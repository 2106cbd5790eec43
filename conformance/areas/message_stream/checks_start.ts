/** Checks of the area `message_stream`: the first event. */
import { MESSAGE_STREAM } from "../../endpoints/messages.ts";
import {
  fieldOf,
  fieldsOf,
  literal,
  whole,
  words,
} from "../../faults/field.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { MESSAGE_FORMS_STREAM } from "../message_reply/scenarios_forms.ts";
import { messageFrames } from "../../faults/change_reply.ts";
import { PING, start } from "./faults.ts";
import { event } from "../../faults/change_messages.ts";
import { textAt } from "../../evidence/json_path.ts";
import { parseJson } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { messageStreams } from "../../endpoints/read_messages.ts";
import { orderFindings } from "../../endpoints/event_order.ts";

const SECTION = "Message endpoint stream";
const FORMS = [TEXT_SCENARIO, MESSAGE_FORMS_STREAM];

const { head } = MESSAGE_STREAM;

/** What the first event has. */
const FIRST = fieldsOf(head, {
  "id": words("a string"),
  "usage.input_tokens": whole(0),
});

const EMPTY = fieldsOf(head, {
  "type": literal("message"),
  "role": literal("assistant"),
  "content": literal([]),
  "stop_reason": literal(null),
  "stop_sequence": literal(null),
  "usage.output_tokens": whole(0),
});

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
    each: (x) => [
      ...orderFindings([x], "start", "message_start first and once"),
      ...FIRST.each(x),
    ],
    misses: FIRST.misses,
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
      "message-start-usage-missing": start("usage", undefined),
      "message-ping-first": event(
        "message_start",
        (_data, _x, frame) => [PING, frame],
      ),
    },
  },
  {
    id: "message_stream.start-input",
    source:
      "Clients show how full the context is by the input tokens of message_start",
    rule:
      "The input tokens of message_start are above 0; they are estimated where the upstream reports them later.",
    ...fieldOf(head, "usage.input_tokens", whole(1, "an integer above 0")),
  },
  {
    id: "message_stream.start-message",
    source:
      "The official TypeScript library and LangChain build the message from message_start",
    rule:
      "The message of message_start has type message, role assistant, the model, empty content, and null for values that are not known yet.",
    each: (x, e) => {
      const asked = textAt(parseJson(x.request.body), "model");
      const right = e.mode === "replay" ? literal(asked) : words("a string");
      return [...EMPTY.each(x), fieldOf(head, "model", right).each(x)];
    },
    misses: EMPTY.misses,
    faults: {
      "message-start-model-other": start("model", "upstream-model-20260101"),
      "message-start-content-filled": start("content", [
        { type: "text", text: "" },
      ]),
      "message-start-stop-filled": start("stop_reason", "end_turn"),
    },
  },
]);
