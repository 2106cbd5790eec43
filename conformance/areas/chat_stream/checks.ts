/**
 * Checks of the area `chat_stream`: the frames of the chat endpoint, and all the checks of the
 * area.
 */
import { headerOf } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact } from "../../suite/finding.ts";
import {
  chatStreams,
  chunksOf,
  everyFrame,
  isType,
} from "../chat_reply/reply_content.ts";
import { CHAT_STREAM_CHUNK_CHECKS } from "./checks_chunks.ts";
import { CHAT_STREAM_END_CHECKS } from "./checks_end.ts";
import { CHAT_STREAM_EXACT_CHECKS } from "./checks_exact.ts";

const SECTION = "Chat completion endpoint stream";
const LINE = "Each chunk is a line `data: <json>` without an event name.";
const FORMS = ["text", "chat-forms"];

/** All checks of the area `chat_stream`. */
export const CHAT_STREAM_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: FORMS,
}, [
  {
    id: "chat_stream.content-type",
    rule: {
      section: "Events",
      text:
        "Setting `stream` to true makes the response content type `text/event-stream`.",
    },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const type = headerOf(x, "content-type");
        return fact(
          isType("text/event-stream", type),
          "content-type",
          "text/event-stream",
          type,
          x,
        );
      }),
    mutants: [
      "chat-stream-as-json",
      "chat-stream-as-ndjson",
      "chat-stream-as-latin1",
    ],
  },
  {
    id: "chat_stream.no-event-line",
    rule: { section: SECTION, text: LINE },
    judge: (e) =>
      chatStreams(e).flatMap((x) => [
        everyFrame(
          x,
          x.frames,
          "event",
          "no event line",
          ({ event }) => event === undefined,
        ),
        everyFrame(
          x,
          chunksOf(x),
          "data",
          "a JSON object",
          ({ json }) => isObject(json),
        ),
      ]),
    mutants: [
      "chat-event-lines",
      "chat-chunk-broken-json",
      "chat-error-event-line",
      "chat-two-chunks-a-frame",
      "chat-chunk-in-array",
      "chat-chunk-as-string",
    ],
  },
  {
    id: "chat_stream.lines",
    rule: { section: SECTION, text: LINE },
    judge: (e) =>
      chatStreams(e).map((x) => {
        const bad = x.text.split(/\r\n|\n|\r/).find((line) =>
          !/^(|:.*|(id|retry):.*|data: (\{.*\}\s*|\[DONE\]))$/s.test(line)
        );
        return fact(
          bad === undefined,
          "lines of the stream",
          "data: {…} or data: [DONE], each on one line",
          bad ?? "so",
          x,
        );
      }),
    mutants: [
      "chat-data-without-blank",
      "chat-data-on-two-lines",
      "chat-event-lines",
      "chat-bare-json-lines",
      "chat-done-without-blank",
      "chat-done-in-small",
    ],
  },
  ...CHAT_STREAM_CHUNK_CHECKS,
  ...CHAT_STREAM_END_CHECKS,
  ...CHAT_STREAM_EXACT_CHECKS,
]);
