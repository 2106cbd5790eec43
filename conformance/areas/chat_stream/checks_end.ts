/** Checks of the area `chat_stream`: how a stream of the chat endpoint ends. */
import {
  chatStreams,
  chunksOf,
  chunksWithChoice,
  FINISH_REASONS,
  finishes,
  inFrames,
} from "../../endpoints/read_chat.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import {
  CHAT_FORMS,
  CHAT_ODDITIES,
  CHAT_SIZES,
} from "../chat_reply/scenarios.ts";
import { chatFrames, withAt } from "../../faults/change_reply.ts";
import { fact, factOf, type Finding } from "../../suite/finding.ts";
import {
  chatFinishMissingInOwnDialect,
  chatFinishTwiceInOwnDialect,
  DELTA,
  finish as finishInOwnDialect,
} from "../equivalence/faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import {
  chunk,
  done,
  END as faultEND,
  finish,
  finishBefore,
  objectOfFrame,
  wire,
} from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { CHAT_STREAM_BREAK_CHECKS } from "./checks_break.ts";

const SECTION = "Chat completion endpoint stream";
const END =
  "The stream ends with the literal line `data: [DONE]`, which is not JSON.";
const LAST =
  "The last content chunk has an empty `delta` and a `finish_reason` (e.g. `stop`).";
const FORMS = [TEXT_SCENARIO, CHAT_FORMS];

function doneOnce(x: Exchange): Finding[] {
  const dones = x.frames.filter(({ data }) => data === "[DONE]");
  const last = x.frames.at(-1);
  return [
    fact(last?.data === "[DONE]", "last frame", "[DONE]", last?.data, x, last),
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
    factOf("last chunk finish_reason", reason, x, last).mustBe(
      "a reason",
      typeof reason === "string" && reason !== "",
    ),
    fact(sameJson(delta, {}), "last chunk delta", "{}", delta, x, last),
    factOf("finish_reason", `${finished.length} times`, x, finished[1])
      .mustBe(
        "once",
        finished.length === 1,
      ),
  ];
}

export const CHAT_STREAM_END_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: chatStreams,
}, [
  {
    id: "chat_stream.done",
    rule: END,
    each: doneOnce,
    faults: {
      "chat-done-missing": done(() => []),
      "chat-done-twice": done(() => [faultEND, faultEND]),
      "chat-done-as-json": done(() => [{ data: '"[DONE]"' }]),
      "chat-done-first": {
        frame: (frame, { endpoint }) => {
          if (endpoint !== "chat") return [frame];
          if (frame.data === "[DONE]") return [];
          return textAt(objectOfFrame(frame), "choices.0.finish_reason") === ""
            ? [frame]
            : [faultEND, frame];
        },
      },
      "chat-done-before-usage": {
        frame: (frame, { endpoint }) => {
          if (endpoint !== "chat") return [frame];
          if (frame.data === "[DONE]") return [];
          return at(objectOfFrame(frame), "usage.total_tokens") === undefined
            ? [frame]
            : [faultEND, frame];
        },
      },
      "chat-chunk-after-done": done(
        () => [faultEND, chunk({ delta: {}, finish_reason: null })],
      ),
    },
  },
  {
    id: "chat_stream.done-is-the-last-line",
    rule: END,
    each: (x) => {
      const lines = x.text.split(/\r\n|\n|\r/);
      const last = lines.findLast((line) => line !== "");
      return factOf("last line", `${last}, ${x.ending}`).mustBe(
        "data: [DONE], then the end of the body",
        last === "data: [DONE]" && x.ending === "complete",
      );
    },
    faults: {
      "chat-done-without-blank": wire((text) =>
        text.replace("data: [DONE]", "data:[DONE]")
      ),
      "chat-comment-after-done": wire((text) =>
        text.includes("[DONE]") ? `${text}: bye\n\n` : text
      ),
      "chat-stream-reset": {
        writer: (writer, { endpoint, stream }) =>
          endpoint === "chat" && stream
            ? { ...writer, end: () => setTimeout(writer.reset, 20) }
            : writer,
      },
      ...sharedFaults("chat-done-missing", "chat-chunk-after-done"),
    },
  },
  {
    id: "chat_stream.done-odd-upstreams",
    rule: END,
    mode: "replay",
    reads: [CHAT_ODDITIES],
    each: doneOnce,
    faults: sharedFaults("chat-done-missing"),
  },
  {
    id: "chat_stream.done-after-long-streams",
    rule: END,
    mode: "replay",
    reads: [CHAT_SIZES],
    each: (x) => [...doneOnce(x), ...finishOnce(x)],
    faults: {
      "chat-long-stream-without-done": {
        frame: (frame, { endpoint, state }) => {
          if (endpoint !== "chat") return [frame];
          const count = Number(state.get("frames") ?? 0);
          state.set("frames", count + 1);
          return count > 20 && frame.data === "[DONE]" ? [] : [frame];
        },
      },
    },
  },
  {
    id: "chat_stream.finish",
    rule: LAST,
    each: finishOnce,
    faults: {
      "chat-finish-missing": finish(() => undefined),
      "chat-finish-with-text": finish((data) =>
        withAt(data, "choices.0.delta", { content: "" })
      ),
      "chat-finish-twice": finish((data) => [{ data }, { data }]),
      "chat-finish-delta-missing": finish((data) =>
        withAt(data, "choices.0.delta", undefined)
      ),
      "chat-finish-with-role": finish((data) =>
        withAt(data, "choices.0.delta", { role: "assistant" })
      ),
      "chat-finish-on-content": finish((data) => [
        { data: withAt(data, "choices.0.delta", { content: "." }) },
      ]),
      "chat-finish-on-usage": chatFrames((data) => {
        if (textAt(data, "choices.0.finish_reason") !== "") return undefined;
        return at(data, "usage.total_tokens") === undefined ? data : {
          ...data,
          finish_reason: "stop",
        };
      }),
    },
  },
  {
    id: "chat_stream.finish-odd-upstreams",
    rule: LAST,
    mode: "replay",
    reads: [CHAT_ODDITIES],
    each: finishOnce,
    faults: {
      "chat-empty-reply-unfinished": chatFrames((data, { state }) => {
        if (textAt(data, "choices.0.delta.content") !== "") {
          state.set("text", true);
        }
        const finished = textAt(data, "choices.0.finish_reason") !== "";
        return finished && !state.has("text") ? undefined : data;
      }),
      "chat-finish-missing-in-own-dialect": chatFinishMissingInOwnDialect,
      "chat-finish-twice-in-own-dialect": chatFinishTwiceInOwnDialect,
      "chat-finish-with-text-in-own-dialect": finishInOwnDialect((
        data,
      ) => [withAt(data, DELTA, { content: "" })]),
      "chat-finish-with-call-in-own-dialect": finishInOwnDialect((data) => [
        withAt(data, DELTA, {
          tool_calls: [{ index: 0, function: { arguments: "" } }],
        }),
      ]),
      ...sharedFaults("chat-finish-missing"),
    },
  },
  {
    id: "chat_stream.finish-reason",
    source:
      "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, choices[].finish_reason",
    rule:
      "`finish_reason` is null or absent until the end, and then stop, length, tool_calls or content_filter.",
    each: (x) =>
      inFrames(x, chunksWithChoice(x), "choices.0.finish_reason").mustBe(
        `null, or one of ${FINISH_REASONS.join(", ")}`,
        ({ json }) => {
          const reason = at(json, "choices.0.finish_reason") ?? null;
          return reason === null ||
            (typeof reason === "string" && FINISH_REASONS.includes(reason));
        },
      ),
    faults: {
      "chat-stream-finish-end_turn": finish((data) =>
        withAt(data, "choices.0.finish_reason", "end_turn")
      ),
      "chat-stream-finish-empty-before": finishBefore(""),
      "chat-stream-finish-false-before": finishBefore(false),
    },
  },
  {
    id: "chat_stream.nothing-after-finish",
    rule: LAST,
    each: (x) => {
      const chunks = chunksOf(x);
      const end = chunks.findIndex(finishes);
      const after = end === -1 ? [] : chunks.slice(end + 1);
      return inFrames(x, after, "after the finish").mustBe(
        "no choice",
        ({ json }) => {
          const choices = at(json, "choices");
          return Array.isArray(choices) && choices.length === 0;
        },
      );
    },
    faults: {
      "chat-content-after-finish": finish((data) => {
        const late = withAt(
          withAt(data, "choices.0.delta", { content: "" }),
          "choices.0.finish_reason",
          null,
        );
        return [{ data }, { data: late }];
      }),
      "chat-finish-first": chatFrames((data) => {
        if (textAt(data, "choices.0.delta.role") !== "") {
          const early = withAt(
            withAt(data, "choices.0.delta", {}),
            "choices.0.finish_reason",
            "stop",
          );
          return [{ data }, { data: early }];
        }
        return textAt(data, "choices.0.finish_reason") === ""
          ? data
          : undefined;
      }),
    },
  },
  ...CHAT_STREAM_BREAK_CHECKS,
]);
