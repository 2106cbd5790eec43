/** Mutants for the checks of the area `chat_stream`: what is in the chunks. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import { objectOf } from "@model-gateway/replay/json";
import { frames } from "../../reference_gateway/change_reply.ts";
import { CHAT_STREAM_BREAK_MUTANTS } from "./faults_break.ts";
import { CHAT_STREAM_END_MUTANTS } from "./faults_end.ts";
import { CHAT_STREAM_TEXT_MUTANTS } from "./faults_text.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import {
  everyChunk,
  finishing,
  later,
  numberOf,
  put,
  removed,
  replace,
  withChoice,
  withText,
  withUsage,
} from "../../reference_gateway/change_chunks.ts";
import { CHAT_STREAM_USAGE_MUTANTS } from "./faults_usage.ts";

const ID = "chatcmpl-0123456789";

/** All mutants of the area `chat_stream`. */
export const CHAT_STREAM_MUTANTS: readonly Mutant[] = [
  ...[
    ["chat-stream-as-json", "application/json"],
    ["chat-stream-as-ndjson", "application/x-ndjson"],
    ["chat-stream-as-latin1", "text/event-stream; charset=iso-8859-1"],
  ].map(([name = "", type = ""]): Mutant => ({
    name,
    about: `The stream has the content type ${type}`,
    hooks: {
      streamHeaders: (headers, { endpoint }) =>
        endpoint === "chat" ? { ...headers, "content-type": type } : headers,
    },
  })),
  put(
    "chat-stream-object-whole",
    "The object of chunks is that of whole replies",
    everyChunk,
    "object",
    () => "chat.completion",
  ),
  put(
    "chat-stream-object-missing",
    "Chunks have no object",
    everyChunk,
    "object",
    removed,
  ),
  put(
    "chat-last-chunk-object-whole",
    "The object of the last chunk is that of a whole reply",
    finishing,
    "object",
    () => "chat.completion",
  ),
  replace(
    "chat-message-frames",
    "Text is sent in the message format's events",
    withText,
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
    everyChunk,
    "id",
    (_, x) => `chatcmpl-${numberOf(x)}`,
  ),
  put(
    "chat-stream-id-constant",
    "All streams have the same id",
    everyChunk,
    "id",
    () => "chatcmpl-1",
  ),
  put("chat-stream-id-missing", "Chunks have no id", everyChunk, "id", removed),
  put(
    "chat-stream-id-first-only",
    "Only the first chunk has an id",
    later,
    "id",
    removed,
  ),
  put(
    "chat-stream-id-of-messages",
    "The id has the message format's prefix",
    everyChunk,
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
    everyChunk,
    "created",
    (_, x) => 1_780_000_000 + numberOf(x),
  ),
  put(
    "chat-stream-created-in-ms",
    "created is in milliseconds",
    everyChunk,
    "created",
    () => 1_780_000_000_000,
  ),
  put(
    "chat-stream-created-as-text",
    "created is a string",
    everyChunk,
    "created",
    () => "1780000000",
  ),
  put(
    "chat-stream-created-missing",
    "Chunks have no created",
    everyChunk,
    "created",
    removed,
  ),
  put(
    "chat-stream-model-missing",
    "Chunks have no model",
    everyChunk,
    "model",
    removed,
  ),
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
    withUsage,
    "choices",
    removed,
  ),
  put(
    "chat-stream-choices-null",
    "The usage chunk's choices are null",
    withUsage,
    "choices",
    () => null,
  ),
  put(
    "chat-stream-choices-object",
    "choices is an object",
    withChoice,
    "choices",
    (data) => at(data, "choices.0"),
  ),
  put(
    "chat-stream-choice-twice",
    "Each chunk has its choice twice",
    withChoice,
    "choices",
    (data) => [...listAt(data, "choices"), ...listAt(data, "choices")],
  ),
  replace(
    "chat-stream-empty-chunks",
    "Chunks without a choice are sent in between",
    withText,
    (data) => [{ data: { ...data, choices: [] } }, { data }],
  ),
  put(
    "chat-stream-index-missing",
    "Choices have no index",
    withChoice,
    "choices.0.index",
    removed,
  ),
  put(
    "chat-stream-index-counts",
    "The index is the number of the chunk",
    withChoice,
    "choices.0.index",
    (_, x) => numberOf(x),
  ),
  put(
    "chat-stream-index-1",
    "Choices are numbered from 1",
    withChoice,
    "choices.0.index",
    () => 1,
  ),
  put(
    "chat-stream-index-text",
    "The index is a string",
    withChoice,
    "choices.0.index",
    () => "0",
  ),
  put(
    "chat-stream-finish-index-missing",
    "The last choice has no index",
    finishing,
    "choices.0.index",
    removed,
  ),
  put(
    "chat-stream-message-for-delta",
    "Choices have a message instead of the delta",
    withChoice,
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
    withText,
    "choices.0.delta.content",
    (
      data,
    ) => [{ type: "text", text: textAt(data, "choices.0.delta.content") }],
  ),
  put(
    "chat-stream-text-beside-delta",
    "The text is in the field of the older format",
    withText,
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
    withChoice,
    "choices.0.delta.role",
    removed,
  ),
  put(
    "chat-stream-role-each",
    "Each chunk has the role",
    withText,
    "choices.0.delta.role",
    () => "assistant",
  ),
  {
    name: "chat-stream-role-late",
    about: "The role is sent after the first text",
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
  replace(
    "chat-stream-role-again",
    "The first chunk is sent twice",
    (data) => textAt(data, "choices.0.delta.role") !== "",
    (data) => [{ data }, { data }],
  ),
  ...CHAT_STREAM_END_MUTANTS,
  ...CHAT_STREAM_BREAK_MUTANTS,
  ...CHAT_STREAM_TEXT_MUTANTS,
  ...CHAT_STREAM_USAGE_MUTANTS,
];
