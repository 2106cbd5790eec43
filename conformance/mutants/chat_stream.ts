/** Mutants for the checks of the area `chat_stream`: what is in the chunks. */
import { at, listAt, textAt } from "../evidence/json_path.ts";
import { objectOf } from "../replay/json.ts";
import { frames } from "./change_reply.ts";
import { CHAT_STREAM_BREAK_MUTANTS } from "./chat_stream_break.ts";
import { CHAT_STREAM_END_MUTANTS } from "./chat_stream_end.ts";
import { CHAT_STREAM_TEXT_MUTANTS } from "./chat_stream_text.ts";
import type { Mutant } from "./mutant.ts";
import {
  become,
  choices,
  each,
  finishing,
  gone,
  later,
  numberOf,
  put,
  texts,
  usages,
} from "./change_chunks.ts";
import { CHAT_STREAM_USAGE_MUTANTS } from "./chat_stream_usage.ts";

const ID = "chatcmpl-0123456789";

/** The mutants. */
export const CHAT_STREAM_MUTANTS: readonly Mutant[] = [
  ...[
    ["chat-stream-as-json", "application/json"],
    ["chat-stream-as-ndjson", "application/x-ndjson"],
    ["chat-stream-as-latin1", "text/event-stream; charset=iso-8859-1"],
  ].map(([name = "", type = ""]): Mutant => ({
    name,
    about: `The stream calls itself ${type}`,
    hooks: {
      streamHeaders: (headers, { endpoint }) =>
        endpoint === "chat" ? { ...headers, "content-type": type } : headers,
    },
  })),
  put(
    "chat-stream-object-whole",
    "Chunks call themselves whole replies",
    each,
    "object",
    () => "chat.completion",
  ),
  put(
    "chat-stream-object-missing",
    "Chunks have no object",
    each,
    "object",
    gone,
  ),
  put(
    "chat-last-chunk-object-whole",
    "The last chunk calls itself a whole reply",
    finishing,
    "object",
    () => "chat.completion",
  ),
  become(
    "chat-message-frames",
    "Text comes in the message format's events",
    texts,
    (data) => [{
      event: "content_block_delta",
      data: {
        type: "content_block_delta",
        index: 0,
        delta: {
          type: "text_delta",
          text: textAt(data, "choices.0.delta.content"),
        },
      },
    }],
  ),
  put(
    "chat-stream-id-each",
    "Each chunk has an id of its own",
    each,
    "id",
    (_, x) => `chatcmpl-${numberOf(x)}`,
  ),
  put(
    "chat-stream-id-constant",
    "All streams have one id",
    each,
    "id",
    () => "chatcmpl-1",
  ),
  put("chat-stream-id-missing", "Chunks have no id", each, "id", gone),
  put(
    "chat-stream-id-first-only",
    "Only the first chunk has an id",
    later,
    "id",
    gone,
  ),
  put(
    "chat-stream-id-of-messages",
    "The id is of the message format",
    each,
    "id",
    () => "msg_0123456789",
  ),
  put(
    "chat-stream-id-last-other",
    "The last chunk has another id",
    finishing,
    "id",
    () => ID,
  ),
  put(
    "chat-stream-created-each",
    "Each chunk has a time of its own",
    each,
    "created",
    (_, x) => 1_780_000_000 + numberOf(x),
  ),
  put(
    "chat-stream-created-in-ms",
    "created is in milliseconds",
    each,
    "created",
    () => 1_780_000_000_000,
  ),
  put(
    "chat-stream-created-as-text",
    "created is a string",
    each,
    "created",
    () => "1780000000",
  ),
  put(
    "chat-stream-created-missing",
    "Chunks have no created",
    each,
    "created",
    gone,
  ),
  put("chat-stream-model-missing", "Chunks have no model", each, "model", gone),
  put(
    "chat-stream-model-flips",
    "Later chunks name another model",
    later,
    "model",
    () => "some-model",
  ),
  put(
    "chat-stream-model-last-other",
    "The last chunk names another model",
    finishing,
    "model",
    () => "some-model",
  ),
  put(
    "chat-stream-choices-missing",
    "The usage chunk has no choices",
    usages,
    "choices",
    gone,
  ),
  put(
    "chat-stream-choices-null",
    "The usage chunk's choices are null",
    usages,
    "choices",
    () => null,
  ),
  put(
    "chat-stream-choices-object",
    "choices is an object",
    choices,
    "choices",
    (data) => at(data, "choices.0"),
  ),
  put(
    "chat-stream-choice-twice",
    "Each chunk has its choice twice",
    choices,
    "choices",
    (data) => [...listAt(data, "choices"), ...listAt(data, "choices")],
  ),
  become(
    "chat-stream-empty-chunks",
    "Chunks without a choice come between",
    texts,
    (data) => [{ data: { ...data, choices: [] } }, { data }],
  ),
  put(
    "chat-stream-index-missing",
    "Choices have no index",
    choices,
    "choices.0.index",
    gone,
  ),
  put(
    "chat-stream-index-counts",
    "The index counts the chunks",
    choices,
    "choices.0.index",
    (_, x) => numberOf(x),
  ),
  put(
    "chat-stream-index-1",
    "Choices count from 1",
    choices,
    "choices.0.index",
    () => 1,
  ),
  put(
    "chat-stream-index-text",
    "The index is a string",
    choices,
    "choices.0.index",
    () => "0",
  ),
  put(
    "chat-stream-finish-index-missing",
    "The last choice has no index",
    finishing,
    "choices.0.index",
    gone,
  ),
  put(
    "chat-stream-message-for-delta",
    "Choices have a message in place of the delta",
    choices,
    "choices.0",
    (data) => ({
      index: 0,
      message: at(data, "choices.0.delta"),
      finish_reason: at(data, "choices.0.finish_reason"),
    }),
  ),
  put(
    "chat-stream-content-parts",
    "The content is an array of parts",
    texts,
    "choices.0.delta.content",
    (
      data,
    ) => [{ type: "text", text: textAt(data, "choices.0.delta.content") }],
  ),
  put(
    "chat-stream-text-beside-delta",
    "The text stands where the older format had it",
    texts,
    "choices.0",
    (data) => ({
      index: 0,
      text: at(data, "choices.0.delta.content"),
      finish_reason: null,
    }),
  ),
  put(
    "chat-stream-finish-delta-null",
    "The last delta is null",
    finishing,
    "choices.0.delta",
    () => null,
  ),
  put(
    "chat-stream-role-missing",
    "No chunk has a role",
    choices,
    "choices.0.delta.role",
    gone,
  ),
  put(
    "chat-stream-role-each",
    "Each chunk has the role",
    texts,
    "choices.0.delta.role",
    () => "assistant",
  ),
  {
    name: "chat-stream-role-late",
    about: "The role comes after the first text",
    hooks: frames("chat", (data, { state }) => {
      if (textAt(data, "choices.0.delta.role") !== "") {
        state.set("role", data);
        return undefined;
      }
      const role = objectOf(state.get("role"));
      state.delete("role");
      return Object.keys(role).length === 0 ? data : [{ data }, { data: role }];
    }),
  },
  put(
    "chat-stream-role-other",
    "The role is model",
    (data) => textAt(data, "choices.0.delta.role") !== "",
    "choices.0.delta.role",
    () => "model",
  ),
  become(
    "chat-stream-role-again",
    "The first chunk comes twice",
    (data) => textAt(data, "choices.0.delta.role") !== "",
    (data) => [{ data }, { data }],
  ),
  ...CHAT_STREAM_END_MUTANTS,
  ...CHAT_STREAM_BREAK_MUTANTS,
  ...CHAT_STREAM_TEXT_MUTANTS,
  ...CHAT_STREAM_USAGE_MUTANTS,
];
