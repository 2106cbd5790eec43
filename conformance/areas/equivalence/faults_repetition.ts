/** Mutants for the checks of the area `equivalence` over a repeated request. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { textAt } from "../../evidence/json_path.ts";
import { type Json, numberOf, objectOf } from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the text of streams of one endpoint as it comes from the upstream. */
function streamed(
  type: "text" | "args",
  endpoint: string,
  change: (text: string) => string,
): Hooks {
  return {
    part: (part, x) =>
      part.type === type && x.stream && x.endpoint === endpoint
        ? [{ ...part, text: change(part.text) }]
        : [part],
  };
}

function trimmed(value: Json): Json {
  return typeof value === "string" ? value.trim() : value;
}

/** Part of `EQUIVALENCE_MUTANTS`. */
export const REPETITION_MUTANTS: readonly Mutant[] = [
  {
    name: "again-delta-lost",
    about: "The second text delta of a message stream is lost",
    hooks: frames("messages", (data, { state }) => {
      if (textAt(data, "delta.type") !== "text_delta") return data;
      const number = Number(state.get("delta") ?? 0) + 1;
      state.set("delta", number);
      return number === 2 ? undefined : data;
    }),
  },
  {
    name: "again-markup-escaped",
    about: "Message streams escape markup",
    hooks: streamed("text", "messages", (text) => text.replaceAll("<", "&lt;")),
  },
  {
    name: "again-argument-trimmed",
    about: "Whitespace around the arguments of whole messages is removed",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: (Array.isArray(body["content"]) ? body["content"] : []).map(
        (block) => {
          const { input } = objectOf(block);
          if (input === undefined) return block;
          const entries = Object.entries(objectOf(input));
          return {
            ...objectOf(block),
            input: Object.fromEntries(
              entries.map(([key, value]) => [key, trimmed(value ?? null)]),
            ),
          };
        },
      ),
    })),
  },
  {
    name: "again-chat-stream-cut",
    about: "Chat streams lose all text after three deltas, and end normally",
    hooks: frames("chat", (data, { state }) => {
      if (textAt(data, "choices.0.delta.content") === "") return data;
      const number = Number(state.get("delta") ?? 0) + 1;
      state.set("delta", number);
      return number > 3 ? undefined : data;
    }),
  },
  {
    name: "again-stream-input-more",
    about: "Chat streams count one prompt token too many",
    hooks: frames("chat", (data) => {
      const tokens = numberOf(objectOf(data["usage"])["prompt_tokens"]);
      return tokens === undefined
        ? data
        : withAt(data, "usage.prompt_tokens", tokens + 1);
    }),
  },
  {
    name: "again-whole-output-less",
    about: "Whole chat replies count one token too few",
    hooks: wholeReply("chat", (body) => {
      const tokens = numberOf(objectOf(body["usage"])["completion_tokens"]) ??
        0;
      return withAt(body, "usage.completion_tokens", tokens - 1);
    }),
  },
  {
    name: "again-stream-end-as-limit",
    about: "Message streams end as if the limit had been reached",
    hooks: frames(
      "messages",
      (data) =>
        textAt(data, "delta.stop_reason") === ""
          ? data
          : withAt(data, "delta.stop_reason", "max_tokens"),
    ),
  },
  {
    name: "again-stream-model-other",
    about: "Message streams name another model",
    hooks: frames(
      "messages",
      (data) =>
        data["type"] === "message_start"
          ? withAt(data, "message.model", "vendora-haiku-4-5-other")
          : data,
    ),
  },
  {
    name: "again-chat-end-as-limit",
    about: "The chat endpoint ends plain text as if the limit had been reached",
    hooks: {
      part: (part, { endpoint }) =>
        endpoint === "chat" && part.type === "stop" && part.cause === "end"
          ? [{ ...part, cause: "max_tokens" }]
          : [part],
    },
  },
];
