/** Mutants for the checks of the area `equivalence` over all fixtures. */
import type { Hooks } from "../golden/hooks.ts";
import type { Part } from "../golden/part.ts";
import type { SaidUsage } from "../replay/said.ts";
import {
  arrayOf,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "../replay/json.ts";
import { frames, wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** Changes what the usage of each reply is told as. */
function usage(
  change: (usage: Partial<SaidUsage>) => Partial<SaidUsage>,
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

/** The mutants. */
export const PAIR_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-stream-text-changed",
    about: "Streams of the chat endpoint say a letter differently",
    hooks: {
      part: (part, { endpoint, stream }) =>
        part.type === "text" && endpoint === "chat" && stream
          ? [{ ...part, text: part.text.replace("e", "E") }]
          : [part],
    },
  },
  {
    name: "message-whole-text-trimmed",
    about: "Whole replies of the message endpoint lose a blank at their end",
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
    about: "Arguments of tools lose a letter on the chat endpoint",
    hooks: {
      part: (part, { endpoint }) =>
        part.type === "args" && endpoint === "chat"
          ? [{ ...part, text: part.text.replace(/[a-z]"/, '"') }]
          : [part],
    },
  },
  {
    name: "message-tools-reversed",
    about: "Whole replies of the message endpoint tell their blocks last first",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: [...arrayOf(body["content"])].reverse(),
    })),
  },
  {
    name: "chat-output-one-more",
    about: "The chat endpoint counts the end of the stream as a token",
    hooks: usage(
      (told) =>
        told.output === undefined ? told : { ...told, output: told.output + 1 },
      { endpoint: "chat" },
    ),
  },
  {
    name: "message-stream-output-zero",
    about: "Streams of the message endpoint end with no output counted",
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
    about: "Whole replies of the chat endpoint count the prompt a token short",
    hooks: wholeReply("chat", (body) => {
      const told = numberOf(objectOf(body["usage"])["prompt_tokens"]) ?? 0;
      return withAt(body, "usage.prompt_tokens", told - 1);
    }),
  },
  {
    name: "streams-cost-more",
    about: "Streams are counted with a tenth more output",
    hooks: usage(
      (told) =>
        told.output === undefined
          ? told
          : { ...told, output: Math.ceil(told.output * 1.1) + 1 },
      { stream: true },
    ),
  },
  {
    name: "cache-tokens-lost",
    about: "Tokens of the cache are not told",
    hooks: usage((told) => ({ ...told, cacheRead: 0, cacheWrite: 0 })),
  },
  {
    name: "tools-end-as-text",
    about: "The message endpoint ends tool calls as plain text",
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
    about: "The chat endpoint does not tell that a limit cut the reply",
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
    about: "Streams of the chat endpoint tell no finish reason",
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
    about: "The first words of a chat stream are lost",
    hooks: frames("chat", (data, { state }) => {
      const said = stringOf(objectOf(firstChoice(data)["delta"])["content"]);
      if ((said ?? "") === "" || state.has("said")) return data;
      state.set("said", true);
      return undefined;
    }),
  },
  {
    name: "message-last-delta-twice",
    about: "A full stop is sent twice",
    hooks: frames("messages", (data, _, frame) => {
      const said = stringOf(objectOf(data["delta"])["text"]);
      return said?.endsWith(".") === true ? [frame, frame] : data;
    }),
  },
  {
    name: "message-text-in-two-blocks",
    about: "The text of a whole reply is spread over two blocks",
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
    about: "The chat endpoint forgets the first turn",
    hooks: {
      ask: (ask, { endpoint }) =>
        endpoint === "chat" && ask.turns.length > 1
          ? { ...ask, turns: ask.turns.slice(1) }
          : ask,
    },
  },
];
