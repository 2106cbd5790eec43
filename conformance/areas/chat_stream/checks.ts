/**
 * Checks of the area `chat_stream`: the frames of the chat endpoint, and all the checks of the
 * area.
 */
import {
  chatStreams,
  chunksOf,
  inFrames,
  isType,
} from "../chat_reply/reply_content.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { CHAT_FORMS } from "../chat_reply/scenarios.ts";
import { chatFrames } from "../../reference_gateway/change_reply.ts";
import { observed } from "../../suite/finding.ts";
import { done, typed, wire } from "./faults.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import { headerOf } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { CHAT_STREAM_CHUNK_CHECKS } from "./checks_chunks.ts";
import { CHAT_STREAM_END_CHECKS } from "./checks_end.ts";
import { CHAT_STREAM_EXACT_CHECKS } from "./checks_exact.ts";

const SECTION = "Chat completion endpoint stream";
const LINE = "Each chunk is a line `data: <json>` without an event name.";
const FORMS = [TEXT_SCENARIO, CHAT_FORMS];

export const CHAT_STREAM_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: chatStreams,
}, [
  {
    id: "chat_stream.content-type",
    section: "Events",
    rule:
      "Setting `stream` to true makes the response content type `text/event-stream`.",
    each: (x) => {
      const type = headerOf(x, "content-type");
      return observed("content-type", type).mustBe(
        "text/event-stream",
        isType("text/event-stream", type),
      );
    },
    faults: {
      "chat-stream-as-json": typed("application/json"),
      "chat-stream-as-ndjson": typed("application/x-ndjson"),
      "chat-stream-as-latin1": typed("text/event-stream; charset=iso-8859-1"),
    },
  },
  {
    id: "chat_stream.no-event-line",
    rule: LINE,
    each: (x) => [
      inFrames(x, x.frames, "event").mustBe(
        "no event line",
        ({ event }) => event === undefined,
      ),
      inFrames(x, chunksOf(x), "data").mustBe(
        "a JSON object",
        ({ json }) => isObject(json),
      ),
    ],
    faults: {
      "chat-event-lines": chatFrames((data) => [{ event: "chunk", data }]),
      "chat-chunk-broken-json": wire((text) => text.replace(/\}\n\n$/, "\n\n")),
      "chat-two-chunks-a-frame": wire((text) =>
        text.startsWith("data: {") ? text.slice(0, -1) : text
      ),
      "chat-chunk-in-array": wire((text) =>
        text.replace(/^data: (\{.*\})\n/, "data: [$1]\n")
      ),
      "chat-chunk-as-string": chatFrames((data) => [{
        data: JSON.stringify(JSON.stringify(data)),
      }]),
      ...shared("chat-error-event-line"),
    },
  },
  {
    id: "chat_stream.lines",
    rule: LINE,
    each: (x) => {
      const bad = x.text.split(/\r\n|\n|\r/).find((line) =>
        !/^(|:.*|(id|retry):.*|data: (\{.*\}\s*|\[DONE\]))$/s.test(line)
      );
      return observed("lines of the stream", bad ?? "so").mustBe(
        "data: {…} or data: [DONE], each on one line",
        bad === undefined,
      );
    },
    faults: {
      "chat-data-without-blank": wire((text) =>
        text.replace(/^data: /, "data:")
      ),
      "chat-data-on-two-lines": wire((text) =>
        text.replace(/^data: \{"id"/, 'data: {\ndata: "id"')
      ),
      "chat-bare-json-lines": wire((text) => text.replace(/^data: \{/, "{")),
      "chat-done-in-small": done(() => [{ data: "[done]" }]),
      ...shared("chat-event-lines", "chat-done-without-blank"),
    },
  },
  ...CHAT_STREAM_CHUNK_CHECKS,
  ...CHAT_STREAM_END_CHECKS,
  ...CHAT_STREAM_EXACT_CHECKS,
]);
