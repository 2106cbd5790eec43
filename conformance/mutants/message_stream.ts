/** Mutants for the checks of the area `message_stream`. */
import { textAt } from "../evidence/json_path.ts";
import type { Hooks } from "../golden/hooks.ts";
import { frames, withAt } from "./change_reply.ts";
import { delta, event } from "./message_change.ts";
import { MESSAGE_STREAM_EXACT_MUTANTS } from "./message_stream_exact.ts";
import { MESSAGE_STREAM_ORDER_MUTANTS } from "./message_stream_order.ts";
import type { Mutant } from "./mutant.ts";

/** Changes the text of events on the wire. */
function wire(change: (text: string) => string): Hooks {
  return {
    wire: (text, { endpoint }) => endpoint === "messages" ? change(text) : text,
  };
}

const FIRST: readonly Mutant[] = [
  {
    name: "message-stream-as-json",
    about: "The stream calls itself JSON",
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
    about: "Deltas are announced under another name",
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
    about: "A ping-like frame of another type comes first",
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
    about: "message_start comes twice",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_start" ? [frame, frame] : data,
    ),
  },
  {
    name: "message-start-input-0",
    about: "message_start tells no input tokens",
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
    about: "message_stop never comes",
    hooks: frames(
      "messages",
      (data, _, frame) => frame.event === "message_stop" ? undefined : data,
    ),
  },
  {
    name: "message-done-line",
    about: "The chat format's end mark follows",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_stop" ? [frame, { data: "[DONE]" }] : data,
    ),
  },
  {
    name: "message-stream-reset",
    about: "The connection is reset in place of a proper end",
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
    about: "Indexes count from 1",
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
    about: "message_delta tells no output tokens",
    hooks: frames(
      "messages",
      (data, _, frame) =>
        frame.event === "message_delta" ? withAt(data, "usage", {}) : data,
    ),
  },
  {
    name: "message-stop-reason-null",
    about: "message_delta tells no stop reason",
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
    "message_stop is announced under another name",
    "message_stop",
    (data) => [{ event: "done", data }],
  ),
  {
    name: "message-stream-empty",
    about: "The stream holds no event",
    hooks: frames("messages", () => undefined),
  },
  {
    name: "message-stray-line",
    about: "Lines that are no field stand in the stream",
    hooks: wire((text) =>
      text.startsWith("event: message_stop") ? `[keep-alive]\n${text}` : text
    ),
  },
  {
    name: "message-data-broken",
    about: "The JSON of deltas is cut",
    hooks: wire((text) =>
      text.startsWith("event: content_block_stop")
        ? text.replace("}\n\n", "\n\n")
        : text
    ),
  },
  event(
    "message-data-as-text",
    "The data of message_stop is JSON in a JSON text",
    "message_stop",
    (data, _, frame) => [{
      ...frame,
      data: JSON.stringify(JSON.stringify(data)),
    }],
  ),
  delta(
    "message-stream-replacement-character",
    "A character was lost at a cut",
    "text_delta",
    (each) => ({ ...each, text: `${textAt(each, "text")}\uFFFD` }),
  ),
  delta(
    "message-chat-chunk",
    "Text comes in chunks of the chat format",
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
    "message_delta has the chat format's choices too",
    "message_delta",
    (data) => ({ ...data, choices: [] }),
  ),
];

/** The mutants. */
export const MESSAGE_STREAM_MUTANTS: readonly Mutant[] = [
  ...FIRST,
  ...MESSAGE_STREAM_ORDER_MUTANTS,
  ...MESSAGE_STREAM_EXACT_MUTANTS,
];
