/** Checks of the area `message_stream`: empty streams, odd upstreams, streams that fail. */
import { MESSAGE_FAILURES } from "../message_reply/scenarios_forms.ts";
import { event, out, putIn } from "../../faults/change_messages.ts";
import { messageFrames } from "../../faults/change_reply.ts";
import { fact, factOf, some } from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { Json } from "@model-gateway/replay/json";
import { withoutContent } from "./faults.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { MESSAGE_TYPES, plainMessage } from "../errors/refusal_words.ts";
import {
  blocksOf,
  messageStreams,
  scenariosOf,
} from "../../endpoints/read_messages.ts";
import { splitStream } from "../../endpoints/event_order.ts";

function isProblem(json: Exchange["json"]): boolean {
  return at(json, "type") === "error" && textAt(json, "error.type") !== "" &&
    textAt(json, "error.message") !== "";
}

/**
 * Error types that blame the request: a failure after the reply has begun is not the client's
 * mistake.
 */
const CALLERS_FAULTS: readonly string[] = [
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "request_too_large",
];

function failedStream(x: Exchange): ReturnType<typeof fact>[] {
  const { errors, stops, finals, faults } = splitStream(x);
  const last = x.frames.at(-1);
  return [
    factOf("content-type", x.text.slice(0, 99), x).mustBe(
      "text/event-stream",
      isStream(x),
    ),
    factOf("last event", last?.data.slice(0, 300) ?? "no event", x, last)
      .mustBe(
        "error, with type and message of the error",
        errors.length === 1 && last === errors[0] && last?.event === "error" &&
          isProblem(last.json),
      ),
    fact(
      // One vendor blames the request for a call that it made itself, and a gateway may pass that
      // on.
      x.label.endsWith("/error-event") ||
        !CALLERS_FAULTS.includes(textAt(last?.json, "error.type")),
      "error.type",
      "no error type that blames the request",
      textAt(last?.json, "error.type"),
      x,
      last,
    ),
    factOf(
      "error.message",
      textAt(last?.json, "error.message").slice(0, 200),
      x,
      last,
    ).mustBe(
      "a plain message: no HTML page, no JSON, no stack trace",
      plainMessage(at(last?.json, "error.message")),
    ),
    factOf(
      "events",
      [...finals, ...stops].map(({ data }) => data.slice(0, 200)),
      x,
    ).mustBe(
      "neither message_delta nor message_stop",
      stops.length + finals.length === 0,
    ),
    ...faults.filter(({ rule }) => rule !== "start").map((fault) =>
      factOf(
        `event ${fault.frame?.at}`,
        fault.frame?.data.slice(0, 200),
        x,
        fault.frame,
      ).mustBe(fault.expected, false)
    ),
  ];
}

export const ODD_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: messageStreams,
}, [
  {
    id: "message_stream.no-content",
    source:
      "A refused prompt and a model with nothing to add end without content, as recorded streams do",
    rule:
      "A stream without content is complete: it has its start, its stop reason and its end, and no invented content.",
    reads: scenariosOf("stream", "oddities"),
    judge: (e) =>
      ["empty", "blocked"].flatMap((fixture) =>
        e.streams(`messages/*/stream/${fixture}`).flatMap((x) => {
          const { faults } = splitStream(x);
          return [
            factOf(
              "order of events",
              faults.map(({ expected }) => expected),
              x,
            )
              .mustBe("start, stop reason, end", faults.length === 0),
            factOf("content", blocksOf(x), x).mustBe(
              "none",
              blocksOf(x).every((block) =>
                sameJson(block, { type: "text", text: "" })
              ),
            ),
          ];
        })
      ),
    faults: {
      "message-empty-stream-talks": withoutContent((frame) => [
        out({
          type: "content_block_start",
          index: 0,
          content_block: { type: "text", text: "" },
        }),
        out({
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text: "(no content)" },
        }),
        out({ type: "content_block_stop", index: 0 }),
        frame,
      ]),
      "message-empty-stream-bare": withoutContent(() => []),
    },
  },
  {
    id: "message_stream.oddities-in-order",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, event types",
    rule:
      "The order of events holds whatever the upstream sends, in any encoding.",
    reads: scenariosOf("stream", "blocks", "oddities", "sizes"),
    each: (x) => {
      const [fault] = splitStream(x).faults;
      return factOf(
        fault === undefined ? "order of events" : `event ${fault.frame?.at}`,
        fault?.frame?.data.slice(0, 200) ?? "the documented order",
        x,
        fault?.frame,
      ).mustBe(fault?.expected ?? "the documented order", fault === undefined);
    },
    faults: {
      "message-overlapping-calls": messageFrames((data, { state }, frame) => {
        const held = state.get("stops");
        const stops: readonly Json[] = Array.isArray(held) ? held : [];
        if (frame.event === "content_block_stop") {
          state.set("stops", [...stops, data["index"] ?? 0]);
          return undefined;
        }
        return frame.event !== "message_delta" ? data : [
          ...stops.map((index) => out({ type: "content_block_stop", index })),
          frame,
        ];
      }),
      ...sharedFaults("message-block-stop-missing", "message-index-always-0"),
    },
  },
  {
    id: "message_stream.failure-type",
    source: "https://platform.claude.com/docs/en/api/errors",
    rule:
      "The error inside a stream has one of the types that the format's libraries know.",
    reads: [MESSAGE_FAILURES],
    judge: (e) =>
      some(
        e.matching("messages/*/*").flatMap((x) =>
          x.frames.filter(({ json }) => at(json, "type") === "error").map((
            frame,
          ) => {
            const type = textAt(frame.json, "error.type");
            return factOf("error.type", type, x, frame).mustBe(
              MESSAGE_TYPES.join(", "),
              MESSAGE_TYPES.includes(type),
            );
          })
        ),
        "a stream with an error",
      ),
    faults: {
      "message-error-of-class": putIn("error", "error.type", "Error"),
    },
  },
  {
    id: "message_stream.failure",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, error events",
    rule:
      "A stream that fails ends with an error event, whose error has a type and a message; no message_stop follows.",
    reads: [MESSAGE_FAILURES],
    judge: (e) =>
      ["error-first", "error-mid", "error-finish", "error-event"].flatMap(
        (fixture) =>
          e.matching(`messages/*/${fixture}`).flatMap((x) =>
            x.head?.status === 200 ? failedStream(x) : [
              factOf("reply", x.head?.status ?? x.ending, x).mustBe(
                "an error status with its body",
                (x.head?.status ?? 0) >= 400 && isProblem(x.json),
              ),
            ]
          ),
      ),
    faults: {
      "message-error-swallowed": event("error", () => undefined),
      "message-error-then-stop": event(
        "error",
        (_data, _x, frame) => [frame, out({ type: "message_stop" })],
      ),
      "message-error-of-chat": event(
        "error",
        ({ error }) => [{ data: { error } }],
      ),
      "message-error-without-type": putIn("error", "error.type", undefined),
      "message-error-without-message": putIn(
        "error",
        "error.message",
        undefined,
      ),
      "message-error-as-text": event(
        "error",
        (data) => ({ ...data, error: textAt(data, "error.message") }),
      ),
      "message-error-unnamed": event("error", (data) => [{ data }]),
      "message-error-blames-the-request": putIn(
        "error",
        "error.type",
        "invalid_request_error",
      ),
      "message-error-with-trace": putIn(
        "error",
        "error.message",
        "TypeError: no function\n    at pump (gateway/pipeline/stream_pump.ts:10:5)",
      ),
    },
  },
]);
