/** Checks of the area `chat_stream`: the token counts of a stream. */
import { usageChunk } from "../../endpoints/chat.ts";
import {
  chatStreams,
  chunksOf,
  finishes,
  fixtureContentOf,
  inFrames,
} from "../../endpoints/read_chat.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { CHAT_FORMS, CHAT_USAGE_UNASKED } from "../chat_reply/scenarios.ts";
import { chatFrames } from "../../faults/change_reply.ts";
import { compare, factOf, wholeNumber } from "../../suite/finding.ts";
import { changeRequest } from "../../faults/change_request.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { objectOf } from "@model-gateway/replay/json";
import { at, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  put,
  replace,
  withChoice,
  withUsage,
} from "../../faults/change_chunks.ts";

const USAGE =
  "https://platform.openai.com/docs/api-reference/chat/create, stream_options.include_usage";
const FORMS = [TEXT_SCENARIO, CHAT_FORMS];
const CONTENTS = [...FORMS, "chat-contents"];
export const CHAT_STREAM_USAGE_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: chatStreams,
}, [
  {
    id: "chat_stream.usage-asked",
    source: USAGE,
    rule:
      "An additional chunk will be streamed before the data: [DONE] message. The usage field on this chunk shows the token usage statistics for the entire request, and the choices field will always be an empty array.",
    mode: "both",
    reads: FORMS,
    each: (x) => {
      const chunks = chunksOf(x);
      const withUsage = chunks.filter(({ json }) =>
        (at(json, "usage") ?? null) !== null
      );
      const [usage] = withUsage;
      const end = chunks.findIndex(finishes);
      const [input, output, total] = ["prompt", "completion", "total"].map((
        name,
      ) => at(usage?.json, `usage.${name}_tokens`));
      return [
        factOf("chunks with usage", `${withUsage.length}`).mustBe(
          "one",
          withUsage.length === 1,
        ),
        factOf("usage", usage?.data, x, usage).mustBe(
          "after the finish",
          usage !== undefined && chunks.indexOf(usage) > end,
        ),
        factOf(
          "choices of the usage chunk",
          at(usage?.json, "choices"),
          x,
          usage,
        ).mustBe("[]", JSON.stringify(at(usage?.json, "choices")) === "[]"),
        factOf("usage", at(usage?.json, "usage"), x, usage).mustBe(
          "whole numbers and their sum",
          wholeNumber(1)(input) && wholeNumber(0)(output) &&
            total === Number(input) + Number(output),
        ),
      ];
    },
    faults: {
      "chat-stream-usage-missing": put(withUsage, "usage", null),
      "chat-stream-usage-each": put(
        withChoice,
        "usage",
        { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 },
      ),
      "chat-stream-usage-twice": replace(
        withUsage,
        (data) => [{ data }, { data }],
      ),
      "chat-stream-usage-on-finish": chatFrames((data, { state }) => {
        if (textAt(data, "choices.0.finish_reason") !== "") {
          state.set("finish", data);
          return undefined;
        }
        if (at(data, "usage.total_tokens") === undefined) return data;
        const finish = objectOf(state.get("finish"));
        return [{ data: { ...finish, usage: at(data, "usage") } }];
      }),
      "chat-stream-usage-with-choice": put(
        withUsage,
        "choices",
        [{ index: 0, delta: {}, finish_reason: null }],
      ),
      "chat-stream-usage-first": chatFrames((data, { state }) => {
        if (textAt(data, "choices.0.finish_reason") !== "") {
          state.set("finish", data);
          return undefined;
        }
        return at(data, "usage.total_tokens") === undefined
          ? data
          : [{ data }, { data: objectOf(state.get("finish")) }];
      }),
      "chat-stream-usage-as-text": put(
        withUsage,
        "usage.completion_tokens",
        (data) => `${numberAt(data, "usage.completion_tokens")}`,
      ),
      "chat-stream-usage-empty": put(withUsage, "usage", { total: 1 }),
      "chat-stream-usage-sum-wrong": put(
        withUsage,
        "usage.total_tokens",
        (data) => at(data, "usage.prompt_tokens"),
      ),
    },
  },
  {
    id: "chat_stream.usage-details",
    source:
      "https://platform.openai.com/docs/guides/prompt-caching, usage.prompt_tokens_details",
    rule: "`cached_tokens` is the number of prompt tokens read from the cache.",
    reads: CONTENTS,
    each: (x) => {
      const { cacheRead } = fixtureContentOf(x).usage;
      const chunk = usageChunk(x);
      const path = "usage.prompt_tokens_details.cached_tokens";
      const found = at(chunk?.json, path) ?? undefined;
      return factOf(path, found, x, chunk).mustBe(
        `${cacheRead}`,
        found === cacheRead || (found === undefined && cacheRead === 0),
      );
    },
    faults: {
      "chat-stream-details-lost": put(
        withUsage,
        "usage.prompt_tokens_details",
        undefined,
      ),
      "chat-stream-cached-zero": put(
        withUsage,
        "usage.prompt_tokens_details.cached_tokens",
        0,
      ),
    },
  },
  {
    id: "chat_stream.usage-not-asked",
    source: USAGE,
    rule: "Usage comes only when stream_options.include_usage is true.",
    mode: "both",
    reads: [CHAT_USAGE_UNASKED],
    judge: (e) =>
      ["absent", "false"].flatMap((form) =>
        e.streams(`chat/*/stream-${form}`).flatMap((x) => [
          inFrames(x, chunksOf(x), "usage").mustBe(
            "none",
            ({ json }) => (at(json, "usage") ?? null) === null,
          ),
          inFrames(x, chunksOf(x), "choices").mustBe(
            "not empty: no usage chunk",
            ({ json }) => at(json, "choices.0") !== undefined,
          ),
          compare("last frame", x.frames.at(-1)?.data, "[DONE]", x),
        ])
      ),
    faults: {
      "chat-stream-usage-always": changeRequest({ usageAsked: true }),
      "chat-stream-unasked-empty-chunk": {
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
  },
]);
