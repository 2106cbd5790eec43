/** Checks of the area `message_stream`: the events of the message endpoint and their order. */
import { contentOf, fixtureSays } from "../evidence/content.ts";
import { headerOf } from "../evidence/exchange.ts";
import { at } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import {
  fact,
  frameEquals,
  NotTestable,
  wholeNumber,
} from "../suite/finding.ts";

const SECTION = "Message endpoint stream";
const STREAM = "messages/*/stream";

/** The checks. */
export const MESSAGE_STREAM_CHECKS: readonly Check[] = [
  {
    id: "message_stream.content-type",
    rule: {
      section: "Events",
      text:
        "Setting `stream` to true makes the response content type `text/event-stream`.",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.matching(STREAM).map((x) => {
        const type = headerOf(x, "content-type");
        return fact(
          /^text\/event-stream(;|$)/i.test(type ?? ""),
          "content-type",
          "text/event-stream",
          type,
          x,
        );
      }),
    mutants: ["message-stream-as-json"],
  },
  {
    id: "message_stream.event-names",
    rule: {
      section: SECTION,
      text:
        "Each event has an `event:` line and a `data:` line holding JSON with a `type` equal to the event name.",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) =>
        x.frames.map((frame) =>
          frameEquals(x, frame, "type", frame.event ?? "(no event line)")
        )
      ),
    mutants: ["message-event-line-missing", "message-event-renamed"],
  },
  {
    id: "message_stream.first",
    rule: {
      section: SECTION,
      text:
        "| message_start | `message` object with `id` and `usage.input_tokens` | First event |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) => {
        const all = x.frames.filter(({ event }) => event !== "ping");
        const [start] = all;
        if (start === undefined) throw new NotTestable("no event came", x);
        const id = at(start.json, "message.id");
        const input = at(start.json, "message.usage.input_tokens");
        const starts = all.filter(({ event }) => event === "message_start");
        return [
          frameEquals(x, start, "type", "message_start"),
          fact(
            starts.length === 1,
            "message_start",
            "once",
            `${starts.length} times`,
            x,
          ),
          fact(
            typeof id === "string" && id !== "",
            "message.id",
            "a string",
            id,
            x,
            start,
          ),
          fact(
            wholeNumber(1)(input),
            "message.usage.input_tokens",
            "an integer above 0",
            input,
            x,
            start,
          ),
        ];
      }),
    mutants: [
      "message-start-late",
      "message-start-twice",
      "message-start-input-0",
    ],
  },
  {
    id: "message_stream.last",
    rule: {
      section: SECTION,
      text: "| message_stop | only `type` | Last event |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) => {
        const last = x.frames.filter(({ event }) => event !== "ping").at(-1);
        if (last === undefined) throw new NotTestable("no event came", x);
        return [
          fact(
            at(last.json, "type") === "message_stop",
            "last event",
            "message_stop",
            last.event ?? last.data,
            x,
            last,
          ),
          fact(
            x.ending === "complete",
            "end of the body",
            "complete",
            x.ending,
            x,
          ),
        ];
      }),
    mutants: [
      "message-stop-missing",
      "message-done-line",
      "message-stream-reset",
    ],
  },
  {
    id: "message_stream.blank-line-last",
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text:
        "A frame without the blank line after it is dropped by a reader that follows the standard.",
    },
    level: "convention",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).map((x) =>
        fact(
          x.frames.length === x.witness.length,
          "frames",
          `${x.witness.length} finished frames`,
          `${x.frames.length}`,
          x,
        )
      ),
    mutants: ["message-last-frame-unfinished"],
  },
  {
    id: "message_stream.blocks",
    rule: {
      source:
        "https://platform.claude.com/docs/en/build-with-claude/streaming, content block events",
      text:
        "A block is started, gets its deltas and is stopped; one is open at a time; indexes count from 0.",
    },
    level: "convention",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).map((x) => {
        let open: number | undefined;
        let next = 0;
        for (const frame of x.frames) {
          const index = at(frame.json, "index");
          const wrong = (expected: string) =>
            fact(false, `frame ${frame.at}`, expected, frame.data, x, frame);
          if (frame.event === "content_block_start") {
            if (open !== undefined) {
              return wrong(`block ${open} is stopped first`);
            }
            if (index !== next) return wrong(`index ${next}`);
            open = next++;
          } else if (
            frame.event === "content_block_delta" ||
            frame.event === "content_block_stop"
          ) {
            if (index !== open) {
              return wrong(`index ${open ?? "of no block: none is open"}`);
            }
            if (frame.event === "content_block_stop") open = undefined;
          } else if (frame.event === "message_delta" && open !== undefined) {
            return wrong(`block ${open} is stopped first`);
          }
        }
        return fact(next > 0, "blocks", "at least one", `${next}`, x);
      }),
    mutants: [
      "message-block-stop-missing",
      "message-index-gap",
      "message-delta-after-stop",
    ],
  },
  {
    id: "message_stream.final-usage",
    rule: {
      section: SECTION,
      text:
        "| message_delta | `delta.stop_reason`, `usage.output_tokens` | Final output token count arrives here, not in message_start |",
    },
    level: "documented",
    mode: "replay",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).flatMap((x) => {
        const said = fixtureSays("text", x.via).usage.output;
        const frame = x.frames.find(({ event }) => event === "message_delta");
        if (frame === undefined) {
          throw new NotTestable("no message_delta came", x);
        }
        return [
          frameEquals(x, frame, "usage.output_tokens", said),
          frameEquals(x, frame, "delta.stop_reason", "end_turn"),
        ];
      }),
    mutants: ["message-final-usage-missing", "message-stop-reason-null"],
  },
  {
    id: "message_stream.text-exact",
    rule: { section: SECTION, text: "Text arrives in `delta.text`" },
    level: "documented",
    mode: "replay",
    reads: ["text"],
    judge: (e) =>
      e.streams(STREAM).map((x) => {
        const said = fixtureSays("text", x.via).text;
        const { text } = contentOf(x);
        return fact(text === said, "joined delta.text", said, text, x);
      }),
    mutants: ["message-delta-lost"],
  },
];
