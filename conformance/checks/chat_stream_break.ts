/** Checks of the area `chat_stream`: streams that the upstream does not bring to their end. */
import { at, textAt } from "../evidence/json_path.ts";
import { isObject } from "../replay/json.ts";
import { CHAT_BREAKS, CHAT_FALSE_STARTS } from "../scenarios/chat_forms.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { fact } from "../suite/finding.ts";
import { fixtureSays } from "../evidence/content.ts";
import {
  chatStreams,
  chunksOf,
  everyFrame,
  finishes,
  textOfStream,
} from "./chat_content.ts";

/** The streams that break in the middle. */
function broken(e: Evidence): readonly Exchange[] {
  return CHAT_BREAKS.flatMap((form) => e.matching(`chat/*/${form}`));
}

/** The checks. */
export const CHAT_STREAM_BREAK_CHECKS: readonly Check[] = [
  {
    id: "chat_stream.break-tells-error",
    rule: {
      source:
        "https://github.com/openai/openai-node, core/streaming: a chunk with `error` is thrown",
      text:
        'A stream that cannot go on ends with a frame {"error": {message, type, …}} without an event name, or with a broken connection.',
    },
    level: "convention",
    mode: "replay",
    reads: ["chat-broken"],
    judge: (e) =>
      broken(e).flatMap((x) => {
        const last = x.frames.at(-1);
        const error = at(last?.json, "error");
        const cut = x.ending === "broken" || x.ending === "no-reply";
        const refused = (x.head?.status ?? 0) >= 400;
        const told = isObject(error) && textAt(error, "message") !== "" &&
          textAt(error, "type") !== "" && last?.event === undefined;
        return [
          fact(
            refused
              ? textAt(x.json, "error.message") !== ""
              : told || (cut && error === undefined),
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
        "After an error comes neither a finish reason nor `data: [DONE]`: a reader would take the reply for whole.",
    },
    level: "convention",
    mode: "replay",
    reads: ["chat-broken"],
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
    mode: "replay",
    reads: ["chat-broken"],
    judge: (e) =>
      broken(e).map((x) => {
        const said = fixtureSays("text", x.via).text;
        const found = textOfStream(x);
        return fact(
          said.startsWith(found),
          "text before the break",
          `the beginning of ${said}`,
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
        "A stream that fails before its first word is refused with a status, or tells an error; it never looks like an empty reply.",
    },
    level: "convention",
    mode: "replay",
    reads: ["chat-broken"],
    judge: (e) =>
      CHAT_FALSE_STARTS.flatMap((form) => e.matching(`chat/*/${form}`)).map(
        (x) => {
          const told = [x.json, ...x.frames.map(({ json }) => json)].some((
            json,
          ) => textAt(json, "error.message") !== "");
          const well = x.frames.some((frame) =>
            frame.data === "[DONE]" || finishes(frame)
          );
          return fact(
            (told || x.ending !== "complete") && !well,
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
      text: "A chunk of a reply that goes well has no `error`.",
    },
    level: "convention",
    mode: "replay",
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
];
