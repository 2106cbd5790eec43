/** Checks of the area `chat_stream`: what is in each chunk. */
import {
  chatStreams,
  choicesHold,
  chunksOf,
  chunksWithChoice,
  inFrames,
} from "../../endpoints/read_chat.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { CHAT_FORMS } from "../chat_reply/scenarios.ts";
import { chatFrames } from "../../faults/change_reply.ts";
import { compare, wholeNumber } from "../../suite/finding.ts";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import { isObject, objectOf } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { CHAT_STREAM } from "../../endpoints/chat.ts";
import {
  fieldOf,
  IS_SECONDS,
  literal,
  prefixed,
  words,
} from "../../faults/field.ts";
import { inAllChunks } from "./faults.ts";
import {
  everyChunk,
  finishing,
  numberOf,
  put,
  replace,
  withChoice,
  withText,
  withUsage,
} from "../../faults/change_chunks.ts";

const SECTION = "Chat completion endpoint stream";
const TEXT =
  "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.";
const REFERENCE =
  "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, the chat completion chunk object";
const FORMS = [TEXT_SCENARIO, CHAT_FORMS];

export const CHAT_STREAM_CHUNK_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: chatStreams,
}, [
  {
    id: "chat_stream.object",
    source: REFERENCE,
    rule: "The object type, which is always chat.completion.chunk.",
    ...fieldOf(CHAT_STREAM.head, "object", literal("chat.completion.chunk")),
    faults: {
      "chat-stream-object-whole": put(everyChunk, "object", "chat.completion"),
      "chat-last-chunk-object-whole": put(
        finishing,
        "object",
        "chat.completion",
      ),
      "chat-message-frames": replace(withText, (data) => [{
        event: "content_block_delta",
        data: {
          type: "content_block_delta",
          index: 0,
          delta: {
            type: "text_delta",
            text: textAt(data, "choices.0.delta.content"),
          },
        },
      }]),
    },
  },
  {
    id: "chat_stream.id",
    source: REFERENCE,
    rule:
      "A unique identifier for the chat completion. Each chunk has the same ID. Its prefix is the documented one of whole replies.",
    ...inAllChunks("id", prefixed("chatcmpl-"), (n) => `chatcmpl-0${n}`),
  },
  {
    id: "chat_stream.created",
    source: REFERENCE,
    rule:
      "The Unix timestamp (in seconds) of when the chat completion was created. Each chunk has the same timestamp.",
    ...inAllChunks("created", IS_SECONDS, (n) => 1_780_000_001 + n),
  },
  {
    id: "chat_stream.one-model",
    source: REFERENCE,
    rule: "The model to generate the completion.",
    ...inAllChunks("model", words("a model id"), (n) => `model-${n}`),
  },
  {
    id: "chat_stream.choices",
    source: "https://github.com/openai/openai-node, lib/ChatCompletionStream",
    rule:
      "Every chunk has an array `choices`, of at most one choice when one reply was requested; it is empty only on a chunk with usage.",
    each: (x) =>
      inFrames(x, chunksOf(x), "choices").mustBe(
        "one choice, or none beside usage",
        ({ json }) => {
          const choices = at(json, "choices");
          return Array.isArray(choices) &&
            (choices.length === 1 ||
              (choices.length === 0 && isObject(at(json, "usage"))));
        },
      ),
    faults: {
      "chat-stream-choices-missing": put(withUsage, "choices", undefined),
      "chat-stream-choices-null": put(withUsage, "choices", null),
      "chat-stream-choices-object": put(
        withChoice,
        "choices",
        (data) => at(data, "choices.0"),
      ),
      "chat-stream-choice-twice": put(
        withChoice,
        "choices",
        (data) => [...listAt(data, "choices"), ...listAt(data, "choices")],
      ),
      "chat-stream-empty-chunks": replace(
        withText,
        (data) => [{ data: { ...data, choices: [] } }, { data }],
      ),
    },
  },
  {
    id: "chat_stream.index",
    rule: TEXT,
    each: (x) =>
      inFrames(x, chunksWithChoice(x), "choices.0.index").mustBe(
        "an integer",
        (frame) =>
          choicesHold(frame, (choice) => wholeNumber(0)(at(choice, "index"))),
      ),
    faults: {
      "chat-stream-index-missing": put(
        withChoice,
        "choices.0.index",
        undefined,
      ),
      "chat-stream-index-text": put(withChoice, "choices.0.index", "0"),
      "chat-stream-finish-index-missing": put(
        finishing,
        "choices.0.index",
        undefined,
      ),
    },
  },
  {
    id: "chat_stream.index-zero",
    source: `${REFERENCE}, choices[].index`,
    rule: "The index of the only choice is 0.",
    each: (x) =>
      inFrames(x, chunksWithChoice(x), "choices.0.index").mustBe(
        "0",
        (frame) => choicesHold(frame, (choice) => at(choice, "index") === 0),
      ),
    faults: {
      "chat-stream-index-counts": put(
        withChoice,
        "choices.0.index",
        (_, x) => numberOf(x),
      ),
      "chat-stream-index-1": put(withChoice, "choices.0.index", 1),
    },
  },
  {
    id: "chat_stream.delta",
    rule: TEXT,
    each: (x) =>
      inFrames(x, chunksWithChoice(x), "choices.0.delta").mustBe(
        "an object whose content is a string, null or absent",
        (frame) =>
          choicesHold(frame, (choice) => {
            const content = at(choice, "delta.content") ?? "";
            return isObject(at(choice, "delta")) &&
              typeof content === "string";
          }),
      ),
    faults: {
      "chat-stream-message-for-delta": put(withChoice, "choices.0", (data) => ({
        index: 0,
        message: at(data, "choices.0.delta"),
        finish_reason: at(data, "choices.0.finish_reason"),
      })),
      "chat-stream-content-parts": put(withText, "choices.0.delta.content", (
        data,
      ) => [{ type: "text", text: textAt(data, "choices.0.delta.content") }]),
      "chat-stream-text-beside-delta": put(withText, "choices.0", (data) => ({
        index: 0,
        text: at(data, "choices.0.delta.content"),
        finish_reason: null,
      })),
      "chat-stream-finish-delta-null": put(finishing, "choices.0.delta", null),
    },
  },
  {
    id: "chat_stream.role",
    source: REFERENCE,
    rule:
      "The first chunk of a choice has `delta.role` = `assistant`; later chunks do not repeat it.",
    each: (x) => {
      const [first, ...later] = chunksWithChoice(x);
      const role = at(first?.json, "choices.0.delta.role");
      return [
        compare("role of the first chunk", role, "assistant", x, first),
        inFrames(x, later, "choices.0.delta.role").mustBe(
          "no role after the first chunk",
          ({ json }) => (at(json, "choices.0.delta.role") ?? null) === null,
        ),
      ];
    },
    faults: {
      "chat-stream-role-missing": put(
        withChoice,
        "choices.0.delta.role",
        undefined,
      ),
      "chat-stream-role-each": put(
        withText,
        "choices.0.delta.role",
        "assistant",
      ),
      "chat-stream-role-late": chatFrames((data, { state }) => {
        if (textAt(data, "choices.0.delta.role") !== "") {
          state.set("role", data);
          return undefined;
        }
        const role = objectOf(state.get("role"));
        state.delete("role");
        return Object.keys(role).length === 0
          ? data
          : [{ data }, { data: role }];
      }),
      "chat-stream-role-other": put(
        (data) => textAt(data, "choices.0.delta.role") !== "",
        "choices.0.delta.role",
        "model",
      ),
      "chat-stream-role-again": replace(
        (data) => textAt(data, "choices.0.delta.role") !== "",
        (data) => [{ data }, { data }],
      ),
    },
  },
]);
