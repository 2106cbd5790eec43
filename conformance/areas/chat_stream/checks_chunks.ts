/** Checks of the area `chat_stream`: what is in each chunk. */
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, wholeNumber } from "../../suite/finding.ts";
import {
  chatStreams,
  choicesHold,
  chunksOf,
  chunksWithChoice,
  everyFrame,
  requestedModel,
} from "../chat_reply/reply_content.ts";

const SECTION = "Chat completion endpoint stream";
const TEXT =
  "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.";
const REFERENCE =
  "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, the chat completion chunk object";
const FORMS = ["text", "chat-forms"];

/** Part of `CHAT_STREAM_CHECKS`. */
export const CHAT_STREAM_CHUNK_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: FORMS,
}, [
  {
    id: "chat_stream.object",
    rule: {
      source: REFERENCE,
      text: "The object type, which is always chat.completion.chunk.",
    },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksOf(x),
          "object",
          "chat.completion.chunk",
          ({ json }) => at(json, "object") === "chat.completion.chunk",
        )
      ),
    mutants: [
      "chat-stream-object-whole",
      "chat-stream-object-missing",
      "chat-last-chunk-object-whole",
      "chat-message-frames",
    ],
  },
  {
    id: "chat_stream.id",
    rule: {
      source: REFERENCE,
      text:
        "A unique identifier for the chat completion. Each chunk has the same ID. Its prefix is the documented one of whole replies.",
    },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const [first] = chunksOf(x);
        const id = at(first?.json, "id");
        return everyFrame(
          x,
          chunksOf(x),
          "id",
          `chatcmpl-…, the same in all chunks`,
          ({ json }) =>
            typeof id === "string" && /^chatcmpl-./.test(id) &&
            at(json, "id") === id,
        );
      }),
    mutants: [
      "chat-stream-id-each",
      "chat-stream-id-missing",
      "chat-stream-id-first-only",
      "chat-stream-id-of-messages",
      "chat-stream-id-last-other",
    ],
  },
  {
    id: "chat_stream.id-unique",
    rule: {
      source: REFERENCE,
      text:
        "A unique identifier for the chat completion. Each chunk has the same ID.",
    },
    // As for whole replies, no fixture is requested twice on a route.
    judge: (e) => {
      const seen = new Map<string, string>();
      return chatStreams(e).map((x) => {
        const id = textAt(chunksOf(x)[0]?.json, "id");
        const first = seen.get(id);
        seen.set(id, first ?? x.label);
        return fact(
          first === undefined,
          "id",
          "an id that no other stream has",
          first === undefined ? id : `${id}, as in ${first}`,
          x,
        );
      });
    },
    mutants: ["chat-stream-id-constant"],
  },
  {
    id: "chat_stream.created",
    rule: {
      source: REFERENCE,
      text:
        "The Unix timestamp (in seconds) of when the chat completion was created. Each chunk has the same timestamp.",
    },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const [first] = chunksOf(x);
        const created = at(first?.json, "created");
        return everyFrame(
          x,
          chunksOf(x),
          "created",
          "whole seconds since 1970, the same in all chunks",
          ({ json }) =>
            wholeNumber(1_577_836_800)(created) &&
            Number(created) < 4_102_444_800 && at(json, "created") === created,
        );
      }),
    mutants: [
      "chat-stream-created-each",
      "chat-stream-created-in-ms",
      "chat-stream-created-as-text",
      "chat-stream-created-missing",
    ],
  },
  {
    id: "chat_stream.model",
    rule: { source: REFERENCE, text: "The model to generate the completion." },
    mode: "replay",
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksOf(x),
          "model",
          `${requestedModel(x)} in all chunks`,
          ({ json }) => at(json, "model") === requestedModel(x),
        )
      ),
    mutants: [
      "chat-stream-model-missing",
      "chat-stream-model-flips",
      "chat-stream-model-last-other",
    ],
  },
  {
    id: "chat_stream.one-model",
    rule: { source: REFERENCE, text: "The model to generate the completion." },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const model = at(chunksOf(x)[0]?.json, "model");
        return everyFrame(
          x,
          chunksOf(x),
          "model",
          "a model id, the same in all chunks",
          ({ json }) =>
            typeof model === "string" && model !== "" &&
            at(json, "model") === model,
        );
      }),
    mutants: ["chat-stream-model-missing", "chat-stream-model-flips"],
  },
  {
    id: "chat_stream.choices",
    rule: {
      source: "https://github.com/openai/openai-node, lib/ChatCompletionStream",
      text:
        "Every chunk has an array `choices`, of at most one choice when one reply was requested; it is empty only on a chunk with usage.",
    },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksOf(x),
          "choices",
          "one choice, or none beside usage",
          ({ json }) => {
            const choices = at(json, "choices");
            return Array.isArray(choices) &&
              (choices.length === 1 ||
                (choices.length === 0 && isObject(at(json, "usage"))));
          },
        )
      ),
    mutants: [
      "chat-stream-choices-missing",
      "chat-stream-choices-null",
      "chat-stream-choices-object",
      "chat-stream-choice-twice",
      "chat-stream-empty-chunks",
    ],
  },
  {
    id: "chat_stream.index",
    rule: { section: SECTION, text: TEXT },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksWithChoice(x),
          "choices.0.index",
          "an integer",
          (frame) =>
            choicesHold(
              frame,
              (choice) => wholeNumber(0)(at(choice, "index")),
            ),
        )
      ),
    mutants: [
      "chat-stream-index-missing",
      "chat-stream-index-text",
      "chat-stream-finish-index-missing",
    ],
  },
  {
    id: "chat_stream.index-zero",
    rule: {
      source: `${REFERENCE}, choices[].index`,
      text: "The index of the only choice is 0.",
    },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksWithChoice(x),
          "choices.0.index",
          "0",
          (frame) => choicesHold(frame, (choice) => at(choice, "index") === 0),
        )
      ),
    mutants: ["chat-stream-index-counts", "chat-stream-index-1"],
  },
  {
    id: "chat_stream.delta",
    rule: { section: SECTION, text: TEXT },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksWithChoice(x),
          "choices.0.delta",
          "an object whose content is a string, null or absent",
          (frame) =>
            choicesHold(frame, (choice) => {
              const content = at(choice, "delta.content") ?? "";
              return isObject(at(choice, "delta")) &&
                typeof content === "string";
            }),
        )
      ),
    mutants: [
      "chat-stream-message-for-delta",
      "chat-stream-content-parts",
      "chat-stream-text-beside-delta",
      "chat-stream-finish-delta-null",
    ],
  },
  {
    id: "chat_stream.role",
    rule: {
      source: REFERENCE,
      text:
        "The first chunk of a choice has `delta.role` = `assistant`; later chunks do not repeat it.",
    },
    judge: (e) =>
      chatStreams(e).flatMap((x) => {
        const [first, ...later] = chunksWithChoice(x);
        const role = at(first?.json, "choices.0.delta.role");
        return [
          fact(
            role === "assistant",
            "role of the first chunk",
            "assistant",
            role,
            x,
            first,
          ),
          everyFrame(
            x,
            later,
            "choices.0.delta.role",
            "no role after the first chunk",
            ({ json }) => (at(json, "choices.0.delta.role") ?? null) === null,
          ),
        ];
      }),
    mutants: [
      "chat-stream-role-missing",
      "chat-stream-role-each",
      "chat-stream-role-late",
      "chat-stream-role-other",
      "chat-stream-role-again",
    ],
  },
]);
