/**
 * Checks of the area `chat_reply`: members beside the text that an upstream of the same format
 * sends, in whole replies and in streams.
 */
import { CHAT_ODDITIES } from "./scenarios.ts";
import { chatFrames, chatReply } from "../../faults/change_reply.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { compare, fact } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type { Evidence } from "../../suite/evidence.ts";
import { fixtureContentOf } from "../../endpoints/read_chat.ts";
import { withAt } from "../../faults/change_reply.ts";

const OBJECT = "https://platform.openai.com/docs/api-reference/chat/object";

/** The reply of the same format's upstream to a fixture, whole and streamed. */
function both(e: Evidence, fixture: string): readonly Exchange[] {
  return [
    ...e.replies(`chat/chat_completions/whole/${fixture}`),
    ...e.streams(`chat/chat_completions/stream/${fixture}`),
  ];
}

/** The messages of a whole reply, or the deltas of a stream. */
function messagesOf(x: Exchange): readonly Json[] {
  return x.frames.length === 0
    ? [at(x.json, "choices.0.message") ?? null]
    : x.frames.map(({ json }) => at(json, "choices.0.delta") ?? null);
}

/** The usage of a whole reply or of a stream. */
function usageOf(x: Exchange): Json | undefined {
  return [x.json, ...x.frames.map(({ json }) => json)].map((json) =>
    at(json, "usage") ?? null
  ).findLast((usage) => usage !== null);
}

/** Changes the message of whole replies and the deltas of streams. */
function inMessages(change: (message: JsonObject) => JsonObject): Hooks {
  const changed = (path: string) => (body: JsonObject): JsonObject =>
    at(body, path) === undefined
      ? body
      : withAt(body, path, change(objectOf(at(body, path))));
  return {
    ...chatReply(changed("choices.0.message")),
    ...chatFrames(changed("choices.0.delta")),
  };
}

/** The annotations that the upstream sends. */
const ANNOTATIONS = listAt(
  parseJson(WRITTEN.get("citations")?.replies.chat_completions?.whole ?? ""),
  "choices.0.message.annotations",
);

export const CHAT_OWN_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: [CHAT_ODDITIES],
}, [
  {
    id: "chat_reply.refusal-stays-refusal",
    source: `${OBJECT}, message.refusal; libraries raise an error on it`,
    rule:
      "The words with which a model of this format declines stay in `refusal`.",
    judge: (e) =>
      both(e, "refusal").map((x) => {
        const found = messagesOf(x).map((each) => textAt(each, "refusal"))
          .join("");
        const { refusal } = fixtureContentOf(x);
        return compare("refusal", found, refusal, x);
      }),
    faults: {
      "chat-refusal-as-content": inMessages(({ refusal, ...message }) =>
        typeof refusal === "string" ? { ...message, content: refusal } : message
      ),
    },
  },
  {
    id: "chat_reply.annotations",
    source: `${OBJECT}, message.annotations`,
    rule:
      "The annotations of a model of this format, which name its sources, reach the client.",
    judge: (e) =>
      both(e, "citations").map((x) => {
        const found = messagesOf(x).flatMap((each) =>
          listAt(each, "annotations")
        );
        return fact(
          sameJson(found, ANNOTATIONS),
          "annotations",
          brief(ANNOTATIONS),
          found,
          x,
        );
      }),
    faults: {
      "chat-annotations-lost": inMessages(({ annotations: _, ...message }) =>
        message
      ),
    },
  },
  {
    id: "chat_reply.reasoning-tokens",
    source:
      "https://platform.openai.com/docs/guides/reasoning, usage.completion_tokens_details",
    rule:
      "`reasoning_tokens` is the upstream's number, and part of `completion_tokens`.",
    judge: (e) =>
      both(e, "reasoning-usage").map((x) => {
        const path = "completion_tokens_details.reasoning_tokens";
        const found = at(usageOf(x), path);
        const { reasoning } = fixtureContentOf(x).usage;
        return compare(`usage.${path}`, found, reasoning, x);
      }),
    faults: {
      "chat-reasoning-tokens-zero": {
        ...chatReply((body) =>
          withAt(body, "usage.completion_tokens_details", {
            reasoning_tokens: 0,
          })
        ),
      },
      "chat-stream-reasoning-tokens-lost": chatFrames((data) =>
        at(data, "usage.completion_tokens_details") === undefined
          ? data
          : withAt(data, "usage.completion_tokens_details", undefined)
      ),
    },
  },
]);
