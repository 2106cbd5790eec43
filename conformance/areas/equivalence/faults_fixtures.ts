/** Mutants for the checks of the area `equivalence` over all fixtures. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Part } from "../../reference_gateway/part.ts";
import type { NeutralUsage } from "@model-gateway/replay/neutral_reply";
import {
  arrayOf,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the reported usage of each reply. */
function usage(
  change: (usage: Partial<NeutralUsage>) => Partial<NeutralUsage>,
  when: { readonly endpoint?: string; readonly stream?: boolean } = {},
): Hooks {
  return {
    part: (part, x): readonly Part[] =>
      part.type === "usage" &&
        (when.endpoint ?? x.endpoint) === x.endpoint &&
        (when.stream ?? x.stream) === x.stream
        ? [{ ...part, usage: change(part.usage) }]
        : [part],
  };
}

function firstChoice(data: JsonObject): JsonObject {
  return objectOf(arrayOf(data["choices"])[0]);
}

/** Part of `EQUIVALENCE_MUTANTS`. */
export const FIXTURE_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-stream-text-changed",
    about: "Streams of the chat endpoint change one letter",
    hooks: {
      part: (part, { endpoint, stream }) =>
        part.type === "text" && endpoint === "chat" && stream
          ? [{ ...part, text: part.text.replace("e", "E") }]
          : [part],
    },
  },
  {
    name: "message-whole-text-trimmed",
    about: "Whole replies of the message endpoint lose a space at their end",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: arrayOf(body["content"]).map((block) => {
        const text = stringOf(objectOf(block)["text"]);
        return text === undefined
          ? block
          : { ...objectOf(block), text: text.replace(/(\s|\w)(\W?)$/, "$2") };
      }),
    })),
  },
  {
    name: "chat-arguments-changed",
    about: "Tool arguments lose a letter on the chat endpoint",
    hooks: {
      part: (part, { endpoint }) =>
        part.type === "args" && endpoint === "chat"
          ? [{ ...part, text: part.text.replace(/[a-z]"/, '"') }]
          : [part],
    },
  },
  {
    name: "message-tools-reversed",
    about:
      "Whole replies of the message endpoint have their blocks in reverse order",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: [...arrayOf(body["content"])].reverse(),
    })),
  },
  {
    name: "chat-output-one-more",
    about: "The chat endpoint counts the end of the stream as a token",
    hooks: usage(
      (tokens) =>
        tokens.output === undefined
          ? tokens
          : { ...tokens, output: tokens.output + 1 },
      { endpoint: "chat" },
    ),
  },
  {
    name: "message-stream-output-zero",
    about: "Streams of the message endpoint end with an output count of 0",
    hooks: frames(
      "messages",
      (data) =>
        data["type"] === "message_delta"
          ? withAt(data, "usage.output_tokens", 0)
          : data,
    ),
  },
  {
    name: "chat-whole-input-less",
    about: "Whole replies of the chat endpoint count one prompt token too few",
    hooks: wholeReply("chat", (body) => {
      const tokens = numberOf(objectOf(body["usage"])["prompt_tokens"]) ?? 0;
      return withAt(body, "usage.prompt_tokens", tokens - 1);
    }),
  },
  {
    name: "streams-cost-more",
    about: "Streams report a tenth more output",
    hooks: usage(
      (tokens) =>
        tokens.output === undefined
          ? tokens
          : { ...tokens, output: Math.ceil(tokens.output * 1.1) + 1 },
      { stream: true },
    ),
  },
  {
    name: "cache-tokens-lost",
    about: "Cached tokens are not reported",
    hooks: usage((tokens) => ({ ...tokens, cacheRead: 0, cacheWrite: 0 })),
  },
  {
    name: "tools-end-as-text",
    about: "The message endpoint reports tool calls as the end of plain text",
    hooks: {
      ...wholeReply(
        "messages",
        (body) =>
          body["stop_reason"] === "tool_use"
            ? { ...body, stop_reason: "end_turn" }
            : body,
      ),
    },
  },
  {
    name: "limits-end-as-text",
    about: "The chat endpoint does not report that a limit truncated the reply",
    hooks: frames(
      "chat",
      (data) =>
        firstChoice(data)["finish_reason"] === "length"
          ? withAt(data, "choices.0.finish_reason", "stop")
          : data,
    ),
  },
  {
    name: "chat-finish-told-twice",
    about: "The chat endpoint ends its streams twice",
    hooks: frames(
      "chat",
      (data, _, frame) =>
        typeof firstChoice(data)["finish_reason"] === "string"
          ? [frame, frame]
          : data,
    ),
  },
  {
    name: "chat-finish-lost",
    about: "Streams of the chat endpoint have no finish reason",
    hooks: frames(
      "chat",
      (data) =>
        typeof firstChoice(data)["finish_reason"] === "string"
          ? withAt(data, "choices.0.finish_reason", null)
          : data,
    ),
  },
  {
    name: "message-stream-text-elsewhere",
    about: "Text deltas of the message endpoint have another type",
    hooks: frames(
      "messages",
      (data) =>
        objectOf(data["delta"])["type"] === "text_delta"
          ? withAt(data, "delta.type", "text")
          : data,
    ),
  },
  {
    name: "chat-first-delta-lost",
    about: "The first text of a chat stream is lost",
    hooks: frames("chat", (data, { state }) => {
      const text = stringOf(objectOf(firstChoice(data)["delta"])["content"]);
      if ((text ?? "") === "" || state.has("sent")) return data;
      state.set("sent", true);
      return undefined;
    }),
  },
  {
    name: "message-last-delta-twice",
    about: "A full stop is sent twice",
    hooks: frames("messages", (data, _, frame) => {
      const text = stringOf(objectOf(data["delta"])["text"]);
      return text?.endsWith(".") === true ? [frame, frame] : data;
    }),
  },
  {
    name: "message-text-in-two-blocks",
    about: "The text of a whole reply is split into two blocks",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: arrayOf(body["content"]).flatMap((block) => {
        const text = stringOf(objectOf(block)["text"]);
        return text === undefined ? [block] : [
          { type: "text", text: text.slice(0, 5) },
          { type: "text", text: text.slice(5) },
        ];
      }),
    })),
  },
  {
    name: "chat-turns-cut",
    about: "The chat endpoint drops the first turn",
    hooks: {
      modelRequest: (request, { endpoint }) =>
        endpoint === "chat" && request.turns.length > 1
          ? { ...request, turns: request.turns.slice(1) }
          : request,
    },
  },
];
