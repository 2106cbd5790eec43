/**
 * Checks of the area `message_stream`: streams compared with whole replies, long streams, and
 * streams that fail.
 */
import { type Check, checksWith, shared } from "../../suite/check.ts";
import type { Json } from "@model-gateway/replay/json";
import {
  messageDeltaTrimmed,
  messageStreamOutput1,
  messageStreamSignatureLost,
  messageStreamToolStopAsEnd,
  withoutContent,
} from "./faults.ts";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import { event, out } from "../../reference_gateway/change_messages.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { fact, NotTestable } from "../../suite/finding.ts";
import { plainMessage } from "../errors/checks_refusal_body.ts";
import {
  blocksOf,
  callsOf,
  fixtureOf,
  joined,
  messageStreams,
  reasonOf,
  scenariosOf,
  sequenceOf,
  tokens,
  wholeReplies,
} from "../message_reply/reply_content.ts";
import { splitStream } from "./event_order.ts";

const ALL = ["forms", "blocks", "oddities", "sizes"] as const;
const PAIRS = [
  "text",
  ...scenariosOf("whole", ...ALL),
  ...scenariosOf("stream", ...ALL),
];

/** The content that must be the same whole and streamed. */
function essence(x: Exchange): string {
  return JSON.stringify({
    text: joined(x, "text", "text"),
    thinking: joined(x, "thinking", "thinking"),
    signed: joined(x, "thinking", "signature") !== "",
    redacted: joined(x, "redacted_thinking", "data") !== "",
    tools: callsOf(x),
    stop_reason: reasonOf(x) ?? null,
    stop_sequence: sequenceOf(x) ?? null,
    output_tokens: tokens(x, "output_tokens") ?? null,
  });
}

/** The input tokens in the first event of a stream. */
function startInput(x: Exchange): unknown {
  return at(splitStream(x).starts[0]?.json, "message.usage.input_tokens");
}

/** Part of `MESSAGE_STREAM_CHECKS`. */
export const MESSAGE_STREAM_WHOLE_REPLY_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: messageStreams,
}, [
  {
    id: "message_stream.same-as-whole",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming: a stream is the same message in pieces",
    rule:
      "Content, stop reason and output tokens of a stream are those of the whole reply.",
    reads: PAIRS,
    judge: (e) => {
      const whole = wholeReplies(e);
      return messageStreams(e).map((x) => {
        const other = whole.find(({ label }) =>
          label === x.label.replace("/stream", "/whole")
        );
        if (other === undefined) {
          throw new NotTestable(`no whole reply for ${x.label}`);
        }
        const expected = essence(other);
        const found = essence(x);
        return fact(found === expected, "the reply", expected, found, x);
      });
    },
    faults: {
      "message-delta-trimmed": messageDeltaTrimmed,
      "message-stream-output-1": messageStreamOutput1,
      "message-stream-tool-stop-as-end": messageStreamToolStopAsEnd,
      "message-stream-signature-lost": messageStreamSignatureLost,
    },
  },
  {
    id: "message_stream.start-input-exact",
    source:
      "Clients show how full the context is by the input tokens of message_start",
    rule:
      "Where the upstream sends its input tokens at once, message_start has the same count.",
    reads: PAIRS,
    // Only an upstream of the same format sends its input tokens at once; it adds more for tools
    // that it runs itself.
    judge: (e) => {
      const whole = wholeReplies(e);
      return messageStreams(e)
        .filter((x) =>
          x.via === "messages" &&
          !["server-tool", "usage-late"].includes(fixtureOf(x))
        )
        .map((x) => {
          const other = whole.find(({ label }) =>
            label === x.label.replace("/stream", "/whole")
          );
          const expected = at(other?.json, "usage.input_tokens");
          return fact(
            expected !== undefined && startInput(x) === expected,
            "message.usage.input_tokens",
            `as in the whole reply: ${expected}`,
            startInput(x),
            x,
            0,
          );
        });
    },
    faults: {
      "message-start-input-estimated": event(
        "message_start",
        (data) => withAt(data, "message.usage.input_tokens", 99),
      ),
    },
  },
  {
    id: "message_stream.start-output",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming: the token counts of message_delta are cumulative",
    rule:
      "The output tokens at the start of a stream are no more than those at its end.",
    mode: "both",
    reads: ["text", ...scenariosOf("stream", "forms")],
    each: (x) => {
      const start = Number(
        at(splitStream(x).starts[0]?.json, "message.usage.output_tokens") ??
          0,
      );
      const end = tokens(x, "output_tokens");
      return fact(
        typeof end === "number" && start <= end,
        "message.usage.output_tokens",
        `at most ${end}`,
        start,
        x,
        0,
      );
    },
    faults: {
      "message-start-output-500": event(
        "message_start",
        (data) => withAt(data, "message.usage.output_tokens", 500),
      ),
    },
  },
  {
    id: "message_stream.in-pieces",
    section: "Stream behaviour",
    rule:
      "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    reads: scenariosOf("stream", "sizes"),
    // Two is low for 200 frames of the upstream, since a gateway may join pieces that arrive
    // together.
    streams: "messages/*/stream/text-long",
    each: (x) => {
      const deltas = splitStream(x).blocks.flatMap((block) =>
        block.deltas
      ).length;
      return fact(deltas >= 2, "deltas", "several", `${deltas}`);
    },
    faults: {
      // A block's text is sent in one piece at its end.
      "message-one-delta": frames("messages", (data, { state }, frame) => {
        if (textAt(data, "delta.type") === "text_delta") {
          state.set(
            "text",
            `${state.get("text") ?? ""}${textAt(data, "delta.text")}`,
          );
          return undefined;
        }
        const text = state.get("text");
        if (frame.event !== "content_block_stop" || typeof text !== "string") {
          return data;
        }
        state.delete("text");
        const whole = {
          type: "content_block_delta",
          index: data["index"],
          delta: { type: "text_delta", text },
        };
        return [out(whole), frame];
      }),
    },
  },
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
            fact(
              faults.length === 0,
              "order of events",
              "start, stop reason, end",
              faults.map(({ expected }) => expected),
              x,
            ),
            fact(
              blocksOf(x).every((block) =>
                sameJson(block, { type: "text", text: "" })
              ),
              "content",
              "none",
              blocksOf(x),
              x,
            ),
          ];
        })
      ),
    faults: {
      // Text is added to a reply without content.
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
      return fact(
        fault === undefined,
        fault === undefined ? "order of events" : `event ${fault.frame?.at}`,
        fault?.expected ?? "the documented order",
        fault?.frame?.data.slice(0, 200) ?? "the documented order",
        x,
        fault?.frame,
      );
    },
    faults: {
      // All blocks are stopped only at the end.
      "message-overlapping-calls": frames(
        "messages",
        (data, { state }, frame) => {
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
        },
      ),
      ...shared("message-block-stop-missing", "message-index-always-0"),
    },
  },
  {
    id: "message_stream.failure",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, error events",
    rule:
      "A stream that fails ends with an error event, whose error has a type and a message; no message_stop follows.",
    reads: ["message-failures"],
    judge: (e) =>
      ["error-first", "error-mid", "error-finish", "error-event"].flatMap(
        (fixture) =>
          e.matching(`messages/*/${fixture}`).flatMap((x) =>
            x.head?.status === 200 ? failedStream(x) : [
              fact(
                (x.head?.status ?? 0) >= 400 && isProblem(x.json),
                "reply",
                "an error status with its body",
                x.head?.status ?? x.ending,
                x,
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
      "message-error-without-type": event(
        "error",
        (data) => withAt(data, "error.type", undefined),
      ),
      "message-error-without-message": event(
        "error",
        (data) => withAt(data, "error.message", undefined),
      ),
      "message-error-as-text": event(
        "error",
        (data) => ({ ...data, error: textAt(data, "error.message") }),
      ),
      "message-error-unnamed": event("error", (data) => [{ data }]),
      "message-error-blames-the-request": event(
        "error",
        (data) => withAt(data, "error.type", "invalid_request_error"),
      ),
      "message-error-with-trace": event("error", (data) =>
        withAt(
          data,
          "error.message",
          "TypeError: no function\n    at pump (gateway/pipeline/stream_pump.ts:10:5)",
        )),
    },
  },
]);

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
    fact(
      isStream(x),
      "content-type",
      "text/event-stream",
      x.text.slice(0, 99),
      x,
    ),
    fact(
      errors.length === 1 && last === errors[0] && last?.event === "error" &&
        isProblem(last.json),
      "last event",
      "error, with type and message of the error",
      last?.data.slice(0, 300) ?? "no event",
      x,
      last,
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
    fact(
      plainMessage(at(last?.json, "error.message")),
      "error.message",
      "a plain message: no HTML page, no JSON, no stack trace",
      textAt(last?.json, "error.message").slice(0, 200),
      x,
      last,
    ),
    fact(
      stops.length + finals.length === 0,
      "events",
      "neither message_delta nor message_stop",
      [...finals, ...stops].map(({ data }) => data.slice(0, 200)),
      x,
    ),
    ...faults.filter(({ rule }) => rule !== "start").map((fault) =>
      fact(
        false,
        `event ${fault.frame?.at}`,
        fault.expected,
        fault.frame?.data.slice(0, 200),
        x,
        fault.frame,
      )
    ),
  ];
}
