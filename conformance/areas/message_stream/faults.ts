/** Mutants for the checks of the area `message_stream`. */
import { textAt } from "../../evidence/json_path.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import { delta, event } from "../../reference_gateway/change_messages.ts";
import { MESSAGE_STREAM_EXACT_MUTANTS } from "./faults_exact.ts";
import { MESSAGE_STREAM_ORDER_MUTANTS } from "./faults_order.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the text of events on the wire. */
function wire(change: (text: string) => string): Hooks {
  return {
    wire: (text, { endpoint }) => endpoint === "messages" ? change(text) : text,
  };
}

const FIRST: readonly Mutant[] = [
  {
    name: "message-stream-as-json",
    about: "The stream has the content type application/json",
    hooks: {
      streamHeaders: (headers, { endpoint }) =>
        endpoint === "messages"
          ? { ...headers, "content-type": "application/json" }
          : headers,
    },
  },
  {
    name: "message-event-line-missing",
    about: "There are no event lines",
    hooks: frames("messages", (data) => [{ data }]),
  },
  {
    name: "message-event-renamed",
    about: "Deltas have another event name",
    hooks: frames("messages", (data, _, frame) => [{
      ...frame,
      data,
      event: frame.event === "content_block_delta"
        ? "delta"
        : frame.event ?? "",
    }]),
  },
  {
    name: "message-start-late",
    about: "A frame of another type than ping precedes the stream",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_start"
          ? [{ event: "hello", data: { type: "hello" } }, frame]
          : data,
    ),
  },
  {
    name: "message-start-twice",
    about: "message_start is sent twice",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_start" ? [frame, frame] : data,
    ),
  },
  {
    name: "message-start-input-0",
    about: "message_start has no input tokens",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_start"
          ? withAt(data, "message.usage.input_tokens", 0)
          : data,
    ),
  },
  {
    name: "message-stop-missing",
    about: "message_stop is missing",
    hooks: frames(
      "messages",
      (data, _, frame) => frame.event === "message_stop" ? undefined : data,
    ),
  },
  {
    name: "message-done-line",
    about: "The chat format's [DONE] follows",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_stop" ? [frame, { data: "[DONE]" }] : data,
    ),
  },
  {
    name: "message-stream-reset",
    about: "The connection is reset instead of closed at the end",
    hooks: {
      writer: (writer, { endpoint, stream }) =>
        endpoint === "messages" && stream
          ? { ...writer, end: () => setTimeout(writer.reset, 20) }
          : writer,
    },
  },
  {
    name: "message-last-frame-unfinished",
    about: "The blank line after message_stop is missing",
    hooks: {
      wire: (text) =>
        text.startsWith("event: message_stop") ? text.slice(0, -1) : text,
    },
  },
  {
    name: "message-block-stop-missing",
    about: "Blocks are never stopped",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "content_block_stop" ? undefined : data,
    ),
  },
  {
    name: "message-index-gap",
    about: "Indexes start at 1",
    hooks: frames(
      "messages",
      (data) =>
        typeof data["index"] === "number"
          ? { ...data, index: data["index"] + 1 }
          : data,
    ),
  },
  {
    name: "message-delta-after-stop",
    about: "A delta follows the stop of its block",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "content_block_stop"
          ? [frame, {
            event: "content_block_delta",
            data: {
              type: "content_block_delta",
              index: data["index"],
              delta: { type: "text_delta", text: "" },
            },
          }]
          : data,
    ),
  },
  {
    name: "message-final-usage-missing",
    about: "message_delta has no output tokens",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_delta" ? withAt(data, "usage", {}) : data,
    ),
  },
  {
    name: "message-stop-reason-null",
    about: "message_delta has no stop reason",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_delta"
          ? withAt(data, "delta.stop_reason", null)
          : data,
    ),
  },
  {
    name: "message-delta-lost",
    about: "One text delta is lost",
    hooks: frames("messages", (data, { state }, frame) => {
      if (frame.event !== "content_block_delta" || state.has("lost")) {
        return data;
      }
      state.set("lost", true);
      return undefined;
    }),
  },
  event(
    "message-data-type-missing",
    "The data of deltas has no type",
    "content_block_delta",
    ({ type: _, ...rest }) => rest,
  ),
  event(
    "message-data-type-renamed",
    "The data of message_stop has another type than its event line",
    "message_stop",
    () => ({ type: "done" }),
  ),
  event(
    "message-stop-event-renamed",
    "message_stop has another event name",
    "message_stop",
    (data) => [{ event: "done", data }],
  ),
  {
    name: "message-stream-empty",
    about: "The stream contains no event",
    hooks: frames("messages", () => undefined),
  },
  {
    name: "message-stray-line",
    about: "The stream contains lines that are not fields",
    hooks: wire((text) =>
      text.startsWith("event: message_stop") ? `[keep-alive]\n${text}` : text
    ),
  },
  {
    name: "message-data-broken",
    about: "The JSON of deltas is truncated",
    hooks: wire((text) =>
      text.startsWith("event: content_block_stop")
        ? text.replace("}\n\n", "\n\n")
        : text
    ),
  },
  event(
    "message-data-as-text",
    "The data of message_stop is JSON in a JSON string",
    "message_stop",
    (data, _, frame) => [{
      ...frame,
      data: JSON.stringify(JSON.stringify(data)),
    }],
  ),
  delta(
    "message-stream-replacement-character",
    "A character split between two reads is lost",
    "text_delta",
    (each) => ({ ...each, text: `${textAt(each, "text")}\uFFFD` }),
  ),
  delta(
    "message-chat-chunk",
    "Text is sent in chunks of the chat format",
    "text_delta",
    ({ text }) => [{
      data: {
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: text } }],
      },
    }],
  ),
  event(
    "message-event-with-choices",
    "message_delta also has the chat format's choices",
    "message_delta",
    (data) => ({ ...data, choices: [] }),
  ),
];

/** All mutants of the area `message_stream`. */
export const MESSAGE_STREAM_MUTANTS: readonly Mutant[] = [
  ...FIRST,
  ...MESSAGE_STREAM_ORDER_MUTANTS,
  ...MESSAGE_STREAM_EXACT_MUTANTS,
];
