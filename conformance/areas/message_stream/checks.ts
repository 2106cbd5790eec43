/** Checks of the area `message_stream`: the events of the message endpoint and their order. */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { MESSAGE_FORMS_STREAM } from "../message_reply/scenarios_forms.ts";
import { messageFrames } from "../../faults/change_reply.ts";
import {
  fact,
  factOf,
  frameEquals,
  NotTestable,
  some,
} from "../../suite/finding.ts";
import { wire } from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { delta, event } from "../../faults/change_messages.ts";
import { fixtureContent } from "../../evidence/content.ts";
import { isStream } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { messageStreams } from "../../endpoints/read_messages.ts";
import { checksOfEvery } from "../replies/checks.ts";
import { MESSAGE_STREAM_ORDER_CHECKS } from "./checks_order.ts";
import { MESSAGE_STREAM_WHOLE_REPLY_CHECKS } from "./checks_whole_reply.ts";
import { MESSAGE_STREAM_START_CHECKS } from "./checks_start.ts";

const SECTION = "Message endpoint stream";
const STREAM = "messages/*/stream";
const FORMS = [TEXT_SCENARIO, MESSAGE_FORMS_STREAM];

/** Fields of the event stream standard. */
const LINE = /^(event|data|id|retry)(:|$)|^:|^$/;

const WIRE: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: messageStreams,
}, [
  {
    id: "message_stream.event-names",
    rule:
      "Each event has an `event:` line and a `data:` line holding JSON with a `type` equal to the event name.",
    reads: "everything",
    provedBy: FORMS,
    of: (e) =>
      some(
        e.exchanges.filter((x) => x.endpoint === "messages" && isStream(x)),
        "an event stream",
      ),
    each: (x) => [
      fact(x.frames.length > 0, "events", "at least one", x.frames.length),
      ...x.frames.map((frame) =>
        frameEquals(x, frame, "type", frame.event ?? "(no event line)")
      ),
    ],
    faults: {
      "message-event-line-missing": messageFrames((data) => [{ data }]),
      "message-event-renamed": messageFrames((data, _, frame) => [{
        ...frame,
        data,
        event: frame.event === "content_block_delta"
          ? "delta"
          : frame.event ?? "",
      }]),
      "message-data-type-missing": event(
        "content_block_delta",
        { type: undefined },
      ),
      "message-data-type-renamed": event(
        "message_stop",
        () => ({ type: "done" }),
      ),
      "message-stop-event-renamed": event(
        "message_stop",
        (data) => [{ event: "done", data }],
      ),
      "message-stream-empty": messageFrames(() => undefined),
    },
  },
  {
    id: "message_stream.final-usage",
    rule:
      "| message_delta | `delta.stop_reason`, `usage.output_tokens` | Final output token count arrives here, not in message_start |",
    mode: "replay",
    reads: [TEXT_SCENARIO],
    streams: STREAM,
    each: (x) => {
      const outputTokens = fixtureContent("text", x.via).usage.output;
      const frame = x.frames.find(({ event }) => event === "message_delta");
      if (frame === undefined) {
        throw new NotTestable("no message_delta arrived", x);
      }
      return [
        frameEquals(x, frame, "usage.output_tokens", outputTokens),
        frameEquals(x, frame, "delta.stop_reason", "end_turn"),
      ];
    },
    faults: sharedFaults(
      "message-final-usage-missing",
      "message-stop-reason-null",
    ),
  },
  {
    id: "message_stream.wire",
    rule:
      "Each event has an `event:` line and a `data:` line holding JSON with a `type` equal to the event name.",
    each: (x) => {
      const lines = x.text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
      const stray = lines.filter((line) => !LINE.test(line));
      return [
        factOf("lines", stray).mustBe(
          "event and data lines, comments, blank lines",
          stray.length === 0,
        ),
        ...x.frames.map((frame) =>
          factOf(`event ${frame.at}`, frame.data.slice(0, 200), x, frame)
            .mustBe(
              "a JSON object",
              isObject(frame.json),
            )
        ),
      ];
    },
    faults: {
      "message-stray-line": wire((text) =>
        text.startsWith("event: message_stop") ? `[keep-alive]\n${text}` : text
      ),
      "message-data-broken": wire((text) =>
        text.startsWith("event: content_block_stop")
          ? text.replace("}\n\n", "\n\n")
          : text
      ),
      "message-data-as-text": event("message_stop", (data, _, frame) => [{
        ...frame,
        data: JSON.stringify(JSON.stringify(data)),
      }]),
      ...sharedFaults("message-done-line"),
    },
  },
  {
    id: "message_stream.own-shape",
    section: "Events",
    rule: "The two endpoints emit different event shapes.",
    each: (x) => [
      fact(x.frames.length > 0, "events", "at least one", x.frames.length),
      ...x.frames.map((frame) => {
        const foreign = at(frame.json, "choices") !== undefined ||
          textAt(frame.json, "object").startsWith("chat.completion");
        return factOf(
          `event ${frame.at}`,
          frame.data.slice(0, 200),
          x,
          frame,
        )
          .mustBe("no member of a chat chunk", !foreign);
      }),
    ],
    faults: {
      "message-chat-chunk": delta("text_delta", ({ text }) => [{
        data: {
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta: { content: text } }],
        },
      }]),
      "message-event-with-choices": event(
        "message_delta",
        { choices: [] },
      ),
    },
  },
]);

export const MESSAGE_STREAM_CHECKS: readonly Check[] = [
  ...WIRE,
  ...MESSAGE_STREAM_START_CHECKS,
  ...MESSAGE_STREAM_ORDER_CHECKS,
  ...checksOfEvery("message_stream"),
  ...MESSAGE_STREAM_WHOLE_REPLY_CHECKS,
];
