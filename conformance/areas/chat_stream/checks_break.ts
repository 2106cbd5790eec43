/** Checks of the area `chat_stream`: streams that the upstream breaks off. */
import { changeParts } from "../../faults/change_hooks.ts";
import {
  chatStreams,
  chunksOf,
  finishes,
  inFrames,
  textOfStream,
} from "../../endpoints/read_chat.ts";
import {
  CHAT_BREAKS,
  CHAT_BROKEN,
  CHAT_CONTENTS,
  CHAT_FALSE_STARTS,
} from "../chat_reply/scenarios.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { chatFrames, withAt } from "../../faults/change_reply.ts";
import { factOf } from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { chunk, END, errors, wire } from "./faults.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import type { Evidence } from "../../suite/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { fixtureContent } from "../../evidence/content.ts";

function broken(e: Evidence): readonly Exchange[] {
  return CHAT_BREAKS.flatMap((form) => e.matching(`chat/*/${form}`));
}

export const CHAT_STREAM_BREAK_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: [CHAT_BROKEN],
  of: broken,
}, [
  {
    id: "chat_stream.break-tells-error",
    source:
      "https://github.com/openai/openai-node, core/streaming: a chunk with `error` is thrown",
    rule:
      'A stream that cannot go on ends with a frame {"error": {message, type, …}} without an event name, or with a broken connection.',
    each: (x) => {
      const last = x.frames.at(-1);
      const error = at(last?.json, "error");
      const cut = x.ending === "broken" || x.ending === "no-reply";
      const refused = (x.head?.status ?? 0) >= 400;
      const wellFormed = isObject(error) && textAt(error, "message") !== "" &&
        textAt(error, "type") !== "" && last?.event === undefined;
      return [
        factOf(
          "last frame",
          `${last?.data ?? x.text.slice(0, 100)}, ${x.ending}`,
          x,
          last,
        ).mustBe(
          "an error with message and type, or a broken connection",
          refused
            ? textAt(x.json, "error.message") !== ""
            : wellFormed || (cut && error === undefined),
        ),
      ];
    },
    faults: {
      "chat-error-as-string": errors((data) => [{
        data: { error: textAt(data, "error.message") },
      }]),
      "chat-error-without-message": errors((
        data,
      ) => [{ data: withAt(data, "error.message", "") }]),
      // Errors and ends have an event line.
      "chat-error-event-line": {
        frame: (frame, { endpoint }) =>
          endpoint !== "chat"
            ? [frame]
            : isObject(frame.data) && frame.data["error"] !== undefined
            ? [{ ...frame, event: "error" }]
            : frame.data === "[DONE]"
            ? [{ ...frame, event: "done" }]
            : [frame],
      },
      "chat-error-bare": wire((text) =>
        text.includes('"error"') ? text.replace(/^data: /, "") : text
      ),
      "chat-error-swallowed": changeParts("failed", () => [], {
        endpoint: "chat",
      }),
      "chat-error-message-shaped": errors((data) => [{
        data: { type: "error", message: textAt(data, "error.message") },
      }]),
    },
  },
  {
    id: "chat_stream.break-is-no-end",
    source: "https://github.com/NVIDIA/TensorRT-LLM/issues/18289",
    rule:
      "After an error there is neither a finish reason nor `data: [DONE]`: a client would take the reply for complete.",
    each: (x) => {
      const bad = x.frames.find((frame) =>
        frame.data === "[DONE]" || finishes(frame)
      );
      return factOf("end of the stream", bad?.data ?? "none", x, bad)
        .mustBe(
          "no finish_reason and no [DONE]",
          bad === undefined,
        );
    },
    faults: {
      "chat-error-then-done": errors((data) => [{ data }, END]),
      "chat-error-then-finish": errors((data) => [
        chunk({ delta: {}, finish_reason: "stop" }),
        { data },
      ]),
      ...sharedFaults("chat-error-swallowed"),
    },
  },
  {
    id: "chat_stream.break-keeps-text",
    section: "Chat completion endpoint stream",
    rule: "Text arrives at `choices[0].delta.content`;",
    level: "convention",
    each: (x) => {
      const fullText = fixtureContent("text", x.via).text;
      const found = textOfStream(x);
      return factOf("text before the break", found).mustBe(
        `the beginning of ${fullText}`,
        fullText.startsWith(found),
      );
    },
    faults: {
      "chat-error-as-content": errors((data) => [
        chunk({
          delta: { content: textAt(data, "error.message") },
          finish_reason: null,
        }),
        { data },
      ]),
    },
  },
  {
    id: "chat_stream.false-start",
    source: "https://github.com/openai/openai-node, error handling",
    rule:
      "A stream that fails before its first content is refused with a status, or carries an error; it never looks like an empty reply.",
    judge: (e) =>
      CHAT_FALSE_STARTS.flatMap((form) => e.matching(`chat/*/${form}`)).map(
        (x) => {
          const hasError = [x.json, ...x.frames.map(({ json }) => json)].some((
            json,
          ) => textAt(json, "error.message") !== "");
          const well = x.frames.some((frame) =>
            frame.data === "[DONE]" || finishes(frame)
          );
          return factOf(
            "reply",
            `${x.head?.status}: ${x.text.slice(0, 160)}`,
            x,
          )
            .mustBe("an error", (hasError || x.ending !== "complete") && !well);
        },
      ),
    faults: sharedFaults("chat-error-swallowed", "chat-error-then-done"),
  },
  {
    id: "chat_stream.errors-only-when-broken",
    source: "https://github.com/openai/openai-node, core/streaming",
    rule: "A chunk of a successful reply has no `error`.",
    reads: [TEXT_SCENARIO, CHAT_CONTENTS],
    judge: (e) =>
      chatStreams(e).map((x) =>
        inFrames(x, chunksOf(x), "error").mustBe(
          "none",
          ({ json }) => (at(json, "error") ?? null) === null,
        )
      ),
    faults: {
      "chat-error-chunk-invented": chatFrames({ error: {} }),
    },
  },
]);
