/** Checks of the area `chat_stream`: the chunks of the chat endpoint and their end. */
import { at, textAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import { fact, NotTestable } from "../suite/finding.ts";

const SECTION = "Chat completion endpoint stream";
const STREAM = "chat/*/stream";

/** The checks. */
export const CHAT_STREAM_CHECKS: readonly Check[] = [
  {
    id: "chat_stream.done",
    rule: {
      section: SECTION,
      text:
        "The stream ends with the literal line `data: [DONE]`, which is not JSON.",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) => {
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
          fact(
            dones.length === 1,
            "[DONE]",
            "once",
            `${dones.length} times`,
            x,
          ),
        ];
      }),
    mutants: ["chat-done-missing", "chat-done-twice", "chat-done-as-json"],
  },
  {
    id: "chat_stream.no-event-line",
    rule: {
      section: SECTION,
      text: "Each chunk is a line `data: <json>` without an event name.",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) =>
        x.frames.flatMap((frame) => [
          fact(
            frame.event === undefined,
            `frame ${frame.at} event`,
            "no event line",
            frame.event,
            x,
            frame,
          ),
          fact(
            frame.json !== undefined || frame.data === "[DONE]",
            `frame ${frame.at} data`,
            "JSON",
            frame.data,
            x,
            frame,
          ),
        ])
      ),
    mutants: ["chat-event-lines", "chat-chunk-broken-json"],
  },
  {
    id: "chat_stream.finish",
    rule: {
      section: SECTION,
      text:
        "The last content chunk has an empty `delta` and a `finish_reason` (e.g. `stop`).",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) => {
        const chunks = x.frames.filter(({ json }) =>
          at(json, "choices.0") !== undefined
        );
        const last = chunks.at(-1);
        if (last === undefined) {
          throw new NotTestable("no chunk has a choice", x);
        }
        const reason = textAt(last.json, "choices.0.finish_reason");
        const delta = at(last.json, "choices.0.delta");
        const finished = chunks.filter(({ json }) =>
          textAt(json, "choices.0.finish_reason") !== ""
        );
        return [
          fact(
            reason !== "",
            "last chunk finish_reason",
            "a reason",
            reason,
            x,
            last,
          ),
          fact(
            JSON.stringify(delta) === "{}",
            "last chunk delta",
            "{}",
            delta,
            x,
            last,
          ),
          fact(
            finished.length === 1,
            "finish_reason",
            "once",
            `${finished.length} times`,
            x,
          ),
        ];
      }),
    mutants: [
      "chat-finish-missing",
      "chat-finish-with-text",
      "chat-finish-twice",
    ],
  },
];
