/** Mutants for the checks of the area `chat_stream`: the token counts of a stream. */
import { at, numberAt, textAt } from "../../evidence/json_path.ts";
import { objectOf } from "@model-gateway/replay/json";
import { frames } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import {
  put,
  removed,
  replace,
  withChoice,
  withUsage,
} from "../../reference_gateway/change_chunks.ts";

/** Part of `CHAT_STREAM_MUTANTS`. */
export const CHAT_STREAM_USAGE_MUTANTS: readonly Mutant[] = [
  put(
    "chat-stream-usage-missing",
    "The usage chunk is missing",
    withUsage,
    "usage",
    () => null,
  ),
  put(
    "chat-stream-usage-each",
    "Every chunk has usage",
    withChoice,
    "usage",
    () => ({ prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 }),
  ),
  replace(
    "chat-stream-usage-twice",
    "The usage chunk is sent twice",
    withUsage,
    (data) => [{ data }, { data }],
  ),
  {
    name: "chat-stream-usage-on-finish",
    about: "The usage is on the finishing chunk",
    hooks: frames("chat", (data, { state }) => {
      if (textAt(data, "choices.0.finish_reason") !== "") {
        state.set("finish", data);
        return undefined;
      }
      if (at(data, "usage.total_tokens") === undefined) return data;
      const finish = objectOf(state.get("finish"));
      return [{ data: { ...finish, usage: at(data, "usage") } }];
    }),
  },
  put(
    "chat-stream-usage-with-choice",
    "The usage chunk has a choice",
    withUsage,
    "choices",
    () => [{ index: 0, delta: {}, finish_reason: null }],
  ),
  {
    name: "chat-stream-usage-first",
    about: "The usage is sent before the finishing chunk",
    hooks: frames("chat", (data, { state }) => {
      if (textAt(data, "choices.0.finish_reason") !== "") {
        state.set("finish", data);
        return undefined;
      }
      return at(data, "usage.total_tokens") === undefined
        ? data
        : [{ data }, { data: objectOf(state.get("finish")) }];
    }),
  },
  put(
    "chat-stream-usage-as-text",
    "A figure of the usage is a string",
    withUsage,
    "usage.completion_tokens",
    (data) => `${numberAt(data, "usage.completion_tokens")}`,
  ),
  put(
    "chat-stream-usage-empty",
    "The usage is empty",
    withUsage,
    "usage",
    () => ({
      total: 1,
    }),
  ),
  put(
    "chat-stream-usage-sum-wrong",
    "The total excludes the output",
    withUsage,
    "usage.total_tokens",
    (data) => at(data, "usage.prompt_tokens"),
  ),
  put(
    "chat-stream-usage-off-by-one",
    "The output is one token too high",
    withUsage,
    "usage.completion_tokens",
    (data) => (numberAt(data, "usage.completion_tokens") ?? 0) + 1,
  ),
  put(
    "chat-stream-usage-zero",
    "All figures are 0",
    withUsage,
    "usage",
    () => ({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  ),
  put(
    "chat-stream-usage-without-cache",
    "Cached input is not counted",
    withUsage,
    "usage.prompt_tokens",
    (data) =>
      (numberAt(data, "usage.prompt_tokens") ?? 0) -
      (numberAt(data, "usage.prompt_tokens_details.cached_tokens") ?? 0),
  ),
  {
    name: "chat-stream-usage-first-figures",
    about: "The first of the upstream's token counts is kept",
    hooks: {
      part: (part, { endpoint, state }) => {
        if (endpoint !== "chat" || part.type !== "usage") return [part];
        if (state.has("usage")) return [];
        state.set("usage", true);
        return [part];
      },
    },
  },
  put(
    "chat-stream-details-lost",
    "The details of the prompt are missing",
    withUsage,
    "usage.prompt_tokens_details",
    removed,
  ),
  put(
    "chat-stream-cached-zero",
    "Cached input is not reported",
    withUsage,
    "usage.prompt_tokens_details.cached_tokens",
    () => 0,
  ),
  {
    name: "chat-stream-usage-always",
    about: "Usage is always sent, also when it was not requested",
    hooks: { modelRequest: (request) => ({ ...request, usageAsked: true }) },
  },
  {
    name: "chat-stream-unasked-empty-chunk",
    about: "Where no usage was requested, an empty usage chunk is sent",
    hooks: {
      modelRequest: (request) => ({ ...request, usageAsked: true }),
      frame: (frame, { endpoint }) => {
        if (endpoint !== "chat" || typeof frame.data === "string") {
          return [frame];
        }
        const { usage: _, ...rest } = frame.data;
        return [{ data: rest }];
      },
    },
  },
];
