/** Checks of the area `chat_stream`: how a stream of the chat endpoint ends. */
import { at, sameJson } from "../../evidence/json_path.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { fact, type Finding } from "../../suite/finding.ts";
import { CHAT_STREAM_BREAK_CHECKS } from "./checks_break.ts";
import {
  chatStreams,
  chunksOf,
  chunksWithChoice,
  everyFrame,
  FINISH_REASONS,
  finishes,
} from "../chat_reply/reply_content.ts";

const SECTION = "Chat completion endpoint stream";
const END =
  "The stream ends with the literal line `data: [DONE]`, which is not JSON.";
const LAST =
  "The last content chunk has an empty `delta` and a `finish_reason` (e.g. `stop`).";
const FORMS = ["text", "chat-forms"];

function doneOnce(x: Exchange): Finding[] {
  const dones = x.frames.filter(({ data }) => data === "[DONE]");
  const last = x.frames.at(-1);
  return [
    fact(
      last?.data === "[DONE]",
      "last frame",
      "[DONE]",
      last?.data,
      x,
      last,
    ),
    fact(dones.length === 1, "[DONE]", "once", `${dones.length} times`, x),
  ];
}

function finishOnce(x: Exchange): Finding[] {
  const chunks = chunksWithChoice(x);
  const last = chunks.at(-1);
  if (last === undefined) {
    return [fact(false, "chunks with a choice", "one or more", "none", x)];
  }
  const reason = at(last.json, "choices.0.finish_reason");
  const delta = at(last.json, "choices.0.delta");
  const finished = chunks.filter(finishes);
  return [
    fact(
      typeof reason === "string" && reason !== "",
      "last chunk finish_reason",
      "a reason",
      reason,
      x,
      last,
    ),
    fact(sameJson(delta, {}), "last chunk delta", "{}", delta, x, last),
    fact(
      finished.length === 1,
      "finish_reason",
      "once",
      `${finished.length} times`,
      x,
      finished[1],
    ),
  ];
}

/** Part of `CHAT_STREAM_CHECKS`. */
export const CHAT_STREAM_END_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: FORMS,
}, [
  {
    id: "chat_stream.done",
    rule: { section: SECTION, text: END },
    judge: (e) => chatStreams(e).flatMap(doneOnce),
    mutants: [
      "chat-done-missing",
      "chat-done-twice",
      "chat-done-as-json",
      "chat-done-first",
      "chat-done-before-usage",
      "chat-chunk-after-done",
    ],
  },
  {
    id: "chat_stream.done-is-the-last-line",
    rule: { section: SECTION, text: END },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const lines = x.text.split(/\r\n|\n|\r/);
        const last = lines.findLast((line) => line !== "");
        return fact(
          last === "data: [DONE]" && x.ending === "complete",
          "last line",
          "data: [DONE], then the end of the body",
          `${last}, ${x.ending}`,
          x,
        );
      }),
    mutants: [
      "chat-done-missing",
      "chat-done-without-blank",
      "chat-comment-after-done",
      "chat-chunk-after-done",
      "chat-stream-reset",
    ],
  },
  {
    id: "chat_stream.done-odd-upstreams",
    rule: { section: SECTION, text: END },
    mode: "replay",
    reads: ["chat-oddities"],
    judge: (e) => chatStreams(e).flatMap(doneOnce),
    mutants: ["chat-done-missing"],
  },
  {
    id: "chat_stream.done-after-long-streams",
    rule: { section: SECTION, text: END },
    mode: "replay",
    reads: ["chat-sizes"],
    judge: (e) =>
      chatStreams(e).flatMap((x) => [...doneOnce(x), ...finishOnce(x)]),
    mutants: ["chat-long-stream-without-done"],
  },
  {
    id: "chat_stream.finish",
    rule: { section: SECTION, text: LAST },
    judge: (e) => chatStreams(e).flatMap(finishOnce),
    mutants: [
      "chat-finish-missing",
      "chat-finish-with-text",
      "chat-finish-twice",
      "chat-finish-delta-missing",
      "chat-finish-with-role",
      "chat-finish-on-content",
      "chat-finish-on-usage",
    ],
  },
  {
    id: "chat_stream.finish-odd-upstreams",
    rule: { section: SECTION, text: LAST },
    mode: "replay",
    reads: ["chat-oddities"],
    judge: (e) => chatStreams(e).flatMap(finishOnce),
    mutants: [
      "chat-finish-missing",
      "chat-empty-reply-unfinished",
      "chat-finish-missing-in-own-dialect",
      "chat-finish-twice-in-own-dialect",
      "chat-finish-with-text-in-own-dialect",
      "chat-finish-with-call-in-own-dialect",
    ],
  },
  {
    id: "chat_stream.finish-reason",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, choices[].finish_reason",
      text:
        "`finish_reason` is null or absent until the end, and then stop, length, tool_calls or content_filter.",
    },
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksWithChoice(x),
          "choices.0.finish_reason",
          `null, or one of ${FINISH_REASONS.join(", ")}`,
          ({ json }) => {
            const reason = at(json, "choices.0.finish_reason") ?? null;
            return reason === null ||
              (typeof reason === "string" && FINISH_REASONS.includes(reason));
          },
        )
      ),
    mutants: [
      "chat-stream-finish-end_turn",
      "chat-stream-finish-empty-before",
      "chat-stream-finish-false-before",
    ],
  },
  {
    id: "chat_stream.nothing-after-finish",
    rule: { section: SECTION, text: LAST },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const chunks = chunksOf(x);
        const end = chunks.findIndex(finishes);
        const after = end === -1 ? [] : chunks.slice(end + 1);
        return everyFrame(
          x,
          after,
          "after the finish",
          "no choice",
          ({ json }) => {
            const choices = at(json, "choices");
            return Array.isArray(choices) && choices.length === 0;
          },
        );
      }),
    mutants: ["chat-content-after-finish", "chat-finish-first"],
  },
  {
    id: "chat_stream.blank-line-last",
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text:
        "A frame without a blank line after it is dropped, and two frames without a blank line between them are read as one.",
    },
    judge: (e) =>
      chatStreams(e).map((x) =>
        fact(
          x.frames.length === x.witness.length &&
            x.frames.every(({ data }) => !data.includes("\n")),
          "frames",
          `${x.witness.length} finished frames of one line`,
          `${x.frames.length}`,
          x,
        )
      ),
    mutants: ["chat-last-frame-unfinished", "chat-blank-lines-missing"],
  },
  ...CHAT_STREAM_BREAK_CHECKS,
]);
