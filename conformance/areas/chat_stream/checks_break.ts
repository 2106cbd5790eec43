/** Checks of the area `chat_stream`: streams that the upstream breaks off. */
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { CHAT_BREAKS, CHAT_FALSE_STARTS } from "../chat_reply/scenarios.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { fact } from "../../suite/finding.ts";
import { fixtureContent } from "../../evidence/content.ts";
import {
  chatStreams,
  chunksOf,
  everyFrame,
  finishes,
  textOfStream,
} from "../chat_reply/reply_content.ts";

/** The streams that break off in the middle. */
function broken(e: Evidence): readonly Exchange[] {
  return CHAT_BREAKS.flatMap((form) => e.matching(`chat/*/${form}`));
}

/** Part of `CHAT_STREAM_END_CHECKS`. */
export const CHAT_STREAM_BREAK_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["chat-broken"],
}, [
  {
    id: "chat_stream.break-tells-error",
    rule: {
      source:
        "https://github.com/openai/openai-node, core/streaming: a chunk with `error` is thrown",
      text:
        'A stream that cannot go on ends with a frame {"error": {message, type, …}} without an event name, or with a broken connection.',
    },
    judge: (e) =>
      broken(e).flatMap((x) => {
        const last = x.frames.at(-1);
        const error = at(last?.json, "error");
        const cut = x.ending === "broken" || x.ending === "no-reply";
        const refused = (x.head?.status ?? 0) >= 400;
        const wellFormed = isObject(error) && textAt(error, "message") !== "" &&
          textAt(error, "type") !== "" && last?.event === undefined;
        return [
          fact(
            refused
              ? textAt(x.json, "error.message") !== ""
              : wellFormed || (cut && error === undefined),
            "last frame",
            "an error with message and type, or a broken connection",
            `${last?.data ?? x.text.slice(0, 100)}, ${x.ending}`,
            x,
            last,
          ),
        ];
      }),
    mutants: [
      "chat-error-as-string",
      "chat-error-without-message",
      "chat-error-event-line",
      "chat-error-bare",
      "chat-error-swallowed",
      "chat-error-message-shaped",
    ],
  },
  {
    id: "chat_stream.break-is-no-end",
    rule: {
      source: "https://github.com/NVIDIA/TensorRT-LLM/issues/18289",
      text:
        "After an error there is neither a finish reason nor `data: [DONE]`: a client would take the reply for complete.",
    },
    judge: (e) =>
      broken(e).map((x) => {
        const bad = x.frames.find((frame) =>
          frame.data === "[DONE]" || finishes(frame)
        );
        return fact(
          bad === undefined,
          "end of the stream",
          "no finish_reason and no [DONE]",
          bad?.data ?? "none",
          x,
          bad,
        );
      }),
    mutants: [
      "chat-error-then-done",
      "chat-error-then-finish",
      "chat-error-swallowed",
    ],
  },
  {
    id: "chat_stream.break-keeps-text",
    rule: {
      section: "Chat completion endpoint stream",
      text: "Text arrives at `choices[0].delta.content`;",
    },
    level: "convention",
    judge: (e) =>
      broken(e).map((x) => {
        const fullText = fixtureContent("text", x.via).text;
        const found = textOfStream(x);
        return fact(
          fullText.startsWith(found),
          "text before the break",
          `the beginning of ${fullText}`,
          found,
          x,
        );
      }),
    mutants: ["chat-error-as-content"],
  },
  {
    id: "chat_stream.false-start",
    rule: {
      source: "https://github.com/openai/openai-node, error handling",
      text:
        "A stream that fails before its first content is refused with a status, or carries an error; it never looks like an empty reply.",
    },
    judge: (e) =>
      CHAT_FALSE_STARTS.flatMap((form) => e.matching(`chat/*/${form}`)).map(
        (x) => {
          const hasError = [x.json, ...x.frames.map(({ json }) => json)].some((
            json,
          ) => textAt(json, "error.message") !== "");
          const well = x.frames.some((frame) =>
            frame.data === "[DONE]" || finishes(frame)
          );
          return fact(
            (hasError || x.ending !== "complete") && !well,
            "reply",
            "an error",
            `${x.head?.status}: ${x.text.slice(0, 160)}`,
            x,
          );
        },
      ),
    mutants: ["chat-error-swallowed", "chat-error-then-done"],
  },
  {
    id: "chat_stream.errors-only-when-broken",
    rule: {
      source: "https://github.com/openai/openai-node, core/streaming",
      text: "A chunk of a successful reply has no `error`.",
    },
    reads: ["text", "chat-contents"],
    judge: (e) =>
      chatStreams(e).map((x) =>
        everyFrame(
          x,
          chunksOf(x),
          "error",
          "none",
          ({ json }) => (at(json, "error") ?? null) === null,
        )
      ),
    mutants: ["chat-error-chunk-invented"],
  },
]);
