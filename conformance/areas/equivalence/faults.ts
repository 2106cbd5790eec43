/** What the faults of the area `equivalence` are built from, and those that several checks have. */
import { changeParts } from "../../faults/change_hooks.ts";
import {
  chatFrames,
  chatReply,
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Faults } from "../../suite/check.ts";
import type { Part } from "../../reference_gateway/part.ts";
import type { NeutralUsage } from "@model-gateway/replay/neutral_reply";
import {
  arrayOf,
  type Json,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "@model-gateway/replay/json";
import { finishing } from "../../faults/change_chunks.ts";

export const chatInputDoubled: Hooks = {
  part: (part, { endpoint }) =>
    endpoint === "chat" && part.type === "usage" &&
      part.usage.input !== undefined
      ? [{ ...part, usage: { ...part.usage, input: part.usage.input * 2 } }]
      : [part],
};

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

export function firstChoice(data: JsonObject): JsonObject {
  return objectOf(arrayOf(data["choices"])[0]);
}

export const FIXTURE_FAULTS: Faults = {
  "chat-arguments-changed": changeParts(
    "args",
    (part) => ({ ...part, text: part.text.replace(/[a-z]"/, '"') }),
    { endpoint: "chat" },
  ),
  "message-tools-reversed": messageReply((body) => ({
    ...body,
    content: [...arrayOf(body["content"])].reverse(),
  })),
  "chat-stream-text-changed": changeParts(
    "text",
    (part) => ({ ...part, text: part.text.replace("e", "E") }),
    { endpoint: "chat", stream: true },
  ),
  "message-whole-text-trimmed": messageReply((body) => ({
    ...body,
    content: arrayOf(body["content"]).map((block) => {
      const text = stringOf(objectOf(block)["text"]);
      return text === undefined
        ? block
        : { ...objectOf(block), text: text.replace(/(\s|\w)(\W?)$/, "$2") };
    }),
  })),
  "chat-output-one-more": usage(
    (tokens) =>
      tokens.output === undefined
        ? tokens
        : { ...tokens, output: tokens.output + 1 },
    { endpoint: "chat" },
  ),
  "message-stream-output-zero": messageFrames((data) =>
    data["type"] === "message_delta"
      ? withAt(data, "usage.output_tokens", 0)
      : data
  ),
  "chat-whole-input-less": chatReply((body) => {
    const tokens = numberOf(objectOf(body["usage"])["prompt_tokens"]) ?? 0;
    return withAt(body, "usage.prompt_tokens", tokens - 1);
  }),
  "streams-cost-more": usage(
    (tokens) =>
      tokens.output === undefined
        ? tokens
        : { ...tokens, output: Math.ceil(tokens.output * 1.1) + 1 },
    { stream: true },
  ),
  "cache-tokens-lost": usage((tokens) => ({
    ...tokens,
    cacheRead: 0,
    cacheWrite: 0,
  })),
  "tools-end-as-text": {
    ...messageReply((body) =>
      body["stop_reason"] === "tool_use"
        ? { ...body, stop_reason: "end_turn" }
        : body
    ),
  },
  "chat-finish-told-twice": chatFrames((data, _, frame) =>
    typeof firstChoice(data)["finish_reason"] === "string"
      ? [frame, frame]
      : data
  ),
  "limits-end-as-text": chatFrames((data) =>
    firstChoice(data)["finish_reason"] === "length"
      ? withAt(data, "choices.0.finish_reason", "stop")
      : data
  ),
  "chat-finish-lost": chatFrames((data) =>
    typeof firstChoice(data)["finish_reason"] === "string"
      ? withAt(data, "choices.0.finish_reason", null)
      : data
  ),
};

/** Changes the text of streams of one endpoint as it comes from the upstream. */
export function streamed(
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

export function trimmed(value: Json): Json {
  return typeof value === "string" ? value.trim() : value;
}

export const DELTA = "choices.0.delta";

/** True for a chat request to a model whose upstream uses chat completions. */
export function own({ endpoint, via }: Context): boolean {
  return endpoint === "chat" && via === "chat_completions";
}

/** Changes finishing chunks of such exchanges; an empty list removes them. */
export function finish(
  change: (data: JsonObject) => readonly JsonObject[],
): Hooks {
  return chatFrames((data, x) =>
    own(x) && finishing(data)
      ? change(data).map((changed) => ({ data: changed }))
      : data
  );
}

const nulled = chatReply((body) =>
  withAt(body, "choices.0.finish_reason", null)
);

/** Whole replies of a chat upstream have no finish reason. */
export const chatFinishNullInOwnDialect: Hooks = {
  reply: (reply, x) => own(x) ? nulled.reply?.(reply, x) ?? reply : reply,
};

/** Streams of a chat upstream have no finishing chunk. */
export const chatFinishMissingInOwnDialect: Hooks = finish(() => []);

/** Streams of a chat upstream have two finishing chunks. */
export const chatFinishTwiceInOwnDialect: Hooks = finish((
  data,
) => [data, data]);
