/** Checks of the area `chat_stream`: the token counts of a stream. */
import type { Exchange, Frame } from "../../evidence/exchange.ts";
import { at } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, wholeNumber } from "../../suite/finding.ts";
import {
  chatStreams,
  chunksOf,
  everyFrame,
  finishes,
  fixtureContentOf,
  usageFacts,
} from "../chat_reply/reply_content.ts";

const USAGE =
  "https://platform.openai.com/docs/api-reference/chat/create, stream_options.include_usage";
const FORMS = ["text", "chat-forms"];
const CONTENTS = [...FORMS, "chat-contents"];
const USAGE_RULE = {
  section: "Equivalent fields between the two formats",
  text: "| Output tokens | `usage.output_tokens` | `usage.completion_tokens` |",
} as const;

/** Compares the token counts of streams with the fixture. */
function tokens(e: Evidence): Finding[] {
  return chatStreams(e).flatMap((x) => {
    const chunk = usageChunk(x);
    return usageFacts(x, at(chunk?.json, "usage"), chunk);
  });
}

/** The chunk with the token counts. */
function usageChunk(x: Exchange): Frame | undefined {
  return chunksOf(x).findLast(({ json }) => isObject(at(json, "usage")));
}

/** Part of `CHAT_STREAM_EXACT_CHECKS`. */
export const CHAT_STREAM_USAGE_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
}, [
  {
    id: "chat_stream.usage-asked",
    rule: {
      source: USAGE,
      text:
        "An additional chunk will be streamed before the data: [DONE] message. The usage field on this chunk shows the token usage statistics for the entire request, and the choices field will always be an empty array.",
    },
    mode: "both",
    reads: FORMS,
    judge: (e) =>
      chatStreams(e).flatMap((x) => {
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
          fact(
            withUsage.length === 1,
            "chunks with usage",
            "one",
            `${withUsage.length}`,
            x,
          ),
          fact(
            usage !== undefined && chunks.indexOf(usage) > end,
            "usage",
            "after the finish",
            usage?.data,
            x,
            usage,
          ),
          fact(
            JSON.stringify(at(usage?.json, "choices")) === "[]",
            "choices of the usage chunk",
            "[]",
            at(usage?.json, "choices"),
            x,
            usage,
          ),
          fact(
            wholeNumber(1)(input) && wholeNumber(0)(output) &&
              total === Number(input) + Number(output),
            "usage",
            "whole numbers and their sum",
            at(usage?.json, "usage"),
            x,
            usage,
          ),
        ];
      }),
    mutants: [
      "chat-stream-usage-missing",
      "chat-stream-usage-each",
      "chat-stream-usage-twice",
      "chat-stream-usage-on-finish",
      "chat-stream-usage-with-choice",
      "chat-stream-usage-first",
      "chat-stream-usage-as-text",
      "chat-stream-usage-empty",
      "chat-stream-usage-sum-wrong",
    ],
  },
  {
    id: "chat_stream.usage-exact",
    rule: USAGE_RULE,
    level: "documented",
    reads: CONTENTS,
    judge: tokens,
    mutants: [
      "chat-stream-usage-off-by-one",
      "chat-stream-usage-zero",
      "chat-stream-usage-without-cache",
      "chat-stream-usage-first-figures",
    ],
  },
  {
    id: "chat_stream.usage-exact-odd-upstreams",
    rule: USAGE_RULE,
    level: "documented",
    reads: ["chat-oddities"],
    judge: tokens,
    mutants: ["chat-stream-usage-zero"],
  },
  {
    id: "chat_stream.usage-details",
    rule: {
      source:
        "https://platform.openai.com/docs/guides/prompt-caching, usage.prompt_tokens_details",
      text:
        "`cached_tokens` is the number of prompt tokens read from the cache.",
    },
    reads: CONTENTS,
    judge: (e) =>
      chatStreams(e).map((x) => {
        const { cacheRead } = fixtureContentOf(x).usage;
        const chunk = usageChunk(x);
        const path = "usage.prompt_tokens_details.cached_tokens";
        const found = at(chunk?.json, path) ?? undefined;
        return fact(
          found === cacheRead || (found === undefined && cacheRead === 0),
          path,
          `${cacheRead}`,
          found,
          x,
          chunk,
        );
      }),
    mutants: ["chat-stream-details-lost", "chat-stream-cached-zero"],
  },
  {
    id: "chat_stream.usage-not-asked",
    rule: {
      source: USAGE,
      text: "Usage comes only when stream_options.include_usage is true.",
    },
    mode: "both",
    reads: ["chat-usage-unasked"],
    judge: (e) =>
      ["absent", "false"].flatMap((form) =>
        e.streams(`chat/*/stream-${form}`).flatMap((x) => [
          everyFrame(
            x,
            chunksOf(x),
            "usage",
            "none",
            ({ json }) => (at(json, "usage") ?? null) === null,
          ),
          everyFrame(
            x,
            chunksOf(x),
            "choices",
            "not empty: no usage chunk",
            ({ json }) => at(json, "choices.0") !== undefined,
          ),
          fact(
            x.frames.at(-1)?.data === "[DONE]",
            "last frame",
            "[DONE]",
            x.frames.at(-1)?.data,
            x,
          ),
        ])
      ),
    mutants: ["chat-stream-usage-always", "chat-stream-unasked-empty-chunk"],
  },
]);
