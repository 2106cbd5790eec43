/** Checks of the area `message_stream`: the first event. */
import { at, sameJson, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { isObject, type Json, parseJson } from "../replay/json.ts";
import type { Check } from "../suite/check.ts";
import { fact, NotTestable, wholeNumber } from "../suite/finding.ts";
import { messageStreams } from "./message_content.ts";
import { keeps, walk } from "./message_walk.ts";

const SECTION = "Message endpoint stream";
const FORMS = ["text", "message-forms-stream"];

/** The member of a stream's first event, or why it cannot be looked at. */
function startOf(x: Exchange): Json {
  const [start] = walk(x).starts;
  const message = at(start?.json, "message");
  if (isObject(message)) return message;
  throw new NotTestable("no message_start with a message came", x);
}

/** The checks. */
export const MESSAGE_STREAM_START_CHECKS: readonly Check[] = [
  {
    id: "message_stream.first",
    rule: {
      section: SECTION,
      text:
        "| message_start | `message` object with `id` and `usage.input_tokens` | First event |",
    },
    level: "documented",
    mode: "both",
    reads: FORMS,
    judge: (e) =>
      messageStreams(e).flatMap((x) => {
        const id = at(startOf(x), "id");
        const input = at(startOf(x), "usage.input_tokens");
        return [
          ...keeps([x], "start", "message_start first and once"),
          fact(
            typeof id === "string" && /^msg_./.test(id),
            "message.id",
            "a string with the prefix msg_",
            id,
            x,
            0,
          ),
          fact(
            wholeNumber(1)(input),
            "message.usage.input_tokens",
            "an integer above 0",
            input,
            x,
            0,
          ),
        ];
      }),
    mutants: [
      "message-start-late",
      "message-start-twice",
      "message-start-input-0",
      "message-start-missing",
      "message-start-id-missing",
      "message-start-id-bare",
      "message-start-usage-missing",
      "message-start-input-text",
      "message-ping-first",
    ],
  },
  {
    id: "message_stream.id-unique",
    rule: {
      section: SECTION,
      text: "`message` object with `id` and `usage.input_tokens`",
    },
    level: "documented",
    mode: "both",
    reads: FORMS,
    // As for whole replies, no fixture is asked for twice on a route.
    judge: (e) => {
      const seen = new Map<string, string>();
      return messageStreams(e).map((x) => {
        const id = textAt(startOf(x), "id");
        const first = seen.get(id);
        seen.set(id, first ?? x.label);
        return fact(
          first === undefined,
          "message.id",
          "an id that no other stream has",
          first === undefined ? id : `${id}, as in ${first}`,
          x,
          0,
        );
      });
    },
    mutants: ["message-start-id-constant"],
  },
  {
    id: "message_stream.start-message",
    rule: {
      source:
        "The official TypeScript library and LangChain build the message from message_start",
      text:
        "The message of message_start has type message, role assistant, the model, empty content, and null for what is not known yet.",
    },
    level: "convention",
    mode: "both",
    reads: FORMS,
    judge: (e) =>
      messageStreams(e).flatMap((x) => {
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
            fact(
              sameJson(at(message, name), value),
              `message.${name}`,
              JSON.stringify(value),
              at(message, name),
              x,
              0,
            )
          ),
          fact(
            e.mode === "replay"
              ? model === asked
              : typeof model === "string" && model !== "",
            "message.model",
            e.mode === "replay" ? asked : "a string",
            model,
            x,
            0,
          ),
          fact(
            wholeNumber(0)(at(message, "usage.output_tokens")),
            "message.usage.output_tokens",
            "an integer",
            at(message, "usage.output_tokens"),
            x,
            0,
          ),
        ];
      }),
    mutants: [
      "message-start-type-missing",
      "message-start-role-user",
      "message-start-model-other",
      "message-start-content-missing",
      "message-start-content-filled",
      "message-start-stop-filled",
    ],
  },
];
