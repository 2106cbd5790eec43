/**
 * Mutants for the checks of the area `message_stream`: streams in one piece, without content, with
 * overlapping blocks, or failing.
 */
import { textAt } from "../../evidence/json_path.ts";
import type { OutFrame } from "../../reference_gateway/hooks.ts";
import type { Json } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import { event, out } from "../../reference_gateway/change_messages.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const FORMS: readonly Mutant[] = [
  {
    name: "message-one-delta",
    about: "A block's text is sent in one piece at its end",
    hooks: frames("messages", (data, { state }, frame) => {
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
  {
    name: "message-empty-stream-talks",
    about: "Text is added to a reply without content",
    hooks: withoutContent((frame) => [
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
  },
  {
    name: "message-empty-stream-bare",
    about: "A reply without content has no message_delta",
    hooks: withoutContent(() => []),
  },
  {
    name: "message-overlapping-calls",
    about: "All blocks are stopped only at the end",
    hooks: frames("messages", (data, { state }, frame) => {
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
  },
];

/** Changes message_delta of streams without any block. */
function withoutContent(
  change: (frame: OutFrame) => readonly OutFrame[],
): Mutant["hooks"] {
  return frames("messages", (data, { state }, frame) => {
    if (frame.event === "content_block_start") state.set("content", true);
    return frame.event === "message_delta" && !state.has("content")
      ? change(frame)
      : data;
  });
}

const FAILURES: readonly Mutant[] = [
  event(
    "message-error-swallowed",
    "Errors are not sent",
    "error",
    () => undefined,
  ),
  event(
    "message-error-then-stop",
    "message_stop follows the error",
    "error",
    (_data, _x, frame) => [frame, out({ type: "message_stop" })],
  ),
  event(
    "message-error-of-chat",
    "The error has the chat format's shape",
    "error",
    ({ error }) => [{ data: { error } }],
  ),
  event(
    "message-error-without-type",
    "The error has no type",
    "error",
    (data) => withAt(data, "error.type", undefined),
  ),
  event(
    "message-error-blames-the-request",
    "Every failure is reported as the client's mistake",
    "error",
    (data) => withAt(data, "error.type", "invalid_request_error"),
  ),
  event(
    "message-error-with-trace",
    "The error contains a stack trace",
    "error",
    (data) =>
      withAt(
        data,
        "error.message",
        "TypeError: no function\n    at pump (gateway/pipeline/stream_pump.ts:10:5)",
      ),
  ),
  event(
    "message-error-without-message",
    "The error has no message",
    "error",
    (data) => withAt(data, "error.message", undefined),
  ),
  event(
    "message-error-as-text",
    "The error is a string",
    "error",
    (data) => ({ ...data, error: textAt(data, "error.message") }),
  ),
  event(
    "message-error-unnamed",
    "The error has no event line",
    "error",
    (data) => [{ data }],
  ),
];

/** Part of `MESSAGE_STREAM_EXACT_MUTANTS`. */
export const MESSAGE_STREAM_FORM_MUTANTS: readonly Mutant[] = [
  ...FORMS,
  ...FAILURES,
];
