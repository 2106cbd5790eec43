/** Mutants for the checks of the area `chat_stream`: the token counts of a stream. */
import { at, numberAt, textAt } from "../evidence/json_path.ts";
import { objectOf } from "../replay/json.ts";
import { frames } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";
import { become, choices, gone, put, usages } from "./change_chunks.ts";

/** The mutants. */
export const CHAT_STREAM_USAGE_MUTANTS: readonly Mutant[] = [
  put(
    "chat-stream-usage-missing",
    "The usage chunk is lost",
    usages,
    "usage",
    () => null,
  ),
  put(
    "chat-stream-usage-each",
    "Every chunk has usage",
    choices,
    "usage",
    () => ({ prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 }),
  ),
  become(
    "chat-stream-usage-twice",
    "The usage chunk comes twice",
    usages,
    (data) => [{ data }, { data }],
  ),
  {
    name: "chat-stream-usage-on-finish",
    about: "The usage stands on the finishing chunk",
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
    usages,
    "choices",
    () => [{ index: 0, delta: {}, finish_reason: null }],
  ),
  {
    name: "chat-stream-usage-first",
    about: "The usage comes before the finish",
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
    usages,
    "usage.completion_tokens",
    (data) => `${numberAt(data, "usage.completion_tokens")}`,
  ),
  put("chat-stream-usage-empty", "The usage is empty", usages, "usage", () => ({
    total: 1,
  })),
  put(
    "chat-stream-usage-sum-wrong",
    "The total leaves the output out",
    usages,
    "usage.total_tokens",
    (data) => at(data, "usage.prompt_tokens"),
  ),
  put(
    "chat-stream-usage-off-by-one",
    "One token too many",
    usages,
    "usage.completion_tokens",
    (data) => (numberAt(data, "usage.completion_tokens") ?? 0) + 1,
  ),
  put(
    "chat-stream-usage-zero",
    "All figures are 0",
    usages,
    "usage",
    () => ({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  ),
  put(
    "chat-stream-usage-without-cache",
    "Cached input is left out",
    usages,
    "usage.prompt_tokens",
    (data) =>
      (numberAt(data, "usage.prompt_tokens") ?? 0) -
      (numberAt(data, "usage.prompt_tokens_details.cached_tokens") ?? 0),
  ),
  {
    name: "chat-stream-usage-first-figures",
    about: "The first figures of the upstream are kept",
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
    usages,
    "usage.prompt_tokens_details",
    gone,
  ),
  put(
    "chat-stream-cached-zero",
    "No cached input is told",
    usages,
    "usage.prompt_tokens_details.cached_tokens",
    () => 0,
  ),
  {
    name: "chat-stream-usage-always",
    about: "Usage comes whether asked for or not",
    hooks: { ask: (ask) => ({ ...ask, usageAsked: true }) },
  },
  {
    name: "chat-stream-unasked-empty-chunk",
    about: "Where no usage was asked for, its chunk comes all the same, empty",
    hooks: {
      ask: (ask) => ({ ...ask, usageAsked: true }),
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
