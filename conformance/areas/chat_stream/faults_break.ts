/** Mutants for the checks of the area `chat_stream`: streams that the upstream breaks off. */
import { at, textAt } from "../../evidence/json_path.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import { isObject, type JsonObject } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { chunk, wire } from "./faults_end.ts";

/** Changes error frames. */
function errors(
  change: (data: JsonObject, x: Context) => readonly OutFrame[],
): Hooks {
  return frames(
    "chat",
    (data, x) => at(data, "error") === undefined ? data : change(data, x),
  );
}

const END: OutFrame = { data: "[DONE]" };

/** Part of `CHAT_STREAM_MUTANTS`. */
export const CHAT_STREAM_BREAK_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-error-as-string",
    about: "Errors inside streams are a string",
    hooks: errors((data) => [{
      data: { error: textAt(data, "error.message") },
    }]),
  },
  {
    name: "chat-error-without-message",
    about: "Errors inside streams have no message",
    hooks: errors((data) => [{ data: withAt(data, "error.message", "") }]),
  },
  {
    name: "chat-error-event-line",
    about: "Errors and ends have an event line",
    hooks: {
      frame: (frame, { endpoint }) =>
        endpoint !== "chat"
          ? [frame]
          : isObject(frame.data) && frame.data["error"] !== undefined
          ? [{ ...frame, event: "error" }]
          : frame.data === "[DONE]"
          ? [{ ...frame, event: "done" }]
          : [frame],
    },
  },
  {
    name: "chat-error-bare",
    about: "Errors inside streams are JSON without data:",
    hooks: wire((text) =>
      text.includes('"error"') ? text.replace(/^data: /, "") : text
    ),
  },
  {
    name: "chat-error-message-shaped",
    about: "Errors inside streams have no member `error`",
    hooks: errors((data) => [{
      data: { type: "error", message: textAt(data, "error.message") },
    }]),
  },
  {
    name: "chat-error-swallowed",
    about: "A stream that broke off ends as if it were complete",
    hooks: {
      part: (part, { endpoint }) =>
        endpoint === "chat" && part.type === "failed" ? [] : [part],
    },
  },
  {
    name: "chat-error-then-done",
    about: "[DONE] follows an error",
    hooks: errors((data) => [{ data }, END]),
  },
  {
    name: "chat-error-then-finish",
    about: "A finish reason precedes an error",
    hooks: errors((data) => [
      chunk({ delta: {}, finish_reason: "stop" }),
      { data },
    ]),
  },
  {
    name: "chat-error-as-content",
    about: "Errors are also sent as text before the error frame",
    hooks: errors((data) => [
      chunk({
        delta: { content: textAt(data, "error.message") },
        finish_reason: null,
      }),
      { data },
    ]),
  },
  {
    name: "chat-error-chunk-invented",
    about: "Every chunk has an empty error",
    hooks: frames("chat", (data) => ({ ...data, error: {} })),
  },
];
