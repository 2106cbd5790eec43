/**
 * Checks of the area `chat_stream`: the frames of the chat endpoint, and all the checks of the
 * area.
 */
import { isStream } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import {
  chatStreams,
  chunksOf,
  inFrames,
  textOfStream,
} from "../../endpoints/read_chat.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { CHAT_FORMS } from "../chat_reply/scenarios.ts";
import { chatFrames } from "../../faults/change_reply.ts";
import { demanded, factOf, some } from "../../suite/finding.ts";
import { done, wire, words } from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { isObject } from "@model-gateway/replay/json";
import { CHAT_STREAM_CHUNK_CHECKS } from "./checks_chunks.ts";
import { CHAT_STREAM_END_CHECKS } from "./checks_end.ts";
import { EVERY_CHUNK_CHECKS } from "./checks_every_chunk.ts";
import { CHAT_STREAM_USAGE_CHECKS } from "./checks_usage.ts";
import { checksOfEvery } from "../replies/checks.ts";

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
    id: "chat_stream.no-event-line",
    rule: LINE,
    reads: "everything",
    provedBy: FORMS,
    // An event that no format has may reach the client as it is.
    of: (e) =>
      some(
        e.exchanges.filter((x) =>
          x.endpoint === "chat" && isStream(x) &&
          !x.label.includes("unknown-event")
        ),
        "an event stream",
      ),
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
      ...sharedFaults("chat-error-event-line"),
    },
  },
  {
    id: "chat_stream.lines",
    rule: LINE,
    each: (x) => {
      const bad = x.text.split(/\r\n|\n|\r/).find((line) =>
        !/^(|:.*|(id|retry):.*|data: (\{.*\}\s*|\[DONE\]))$/s.test(line)
      );
      return factOf("lines of the stream", bad ?? "so").mustBe(
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
      ...sharedFaults("chat-event-lines", "chat-done-without-blank"),
    },
  },
  ...CHAT_STREAM_CHUNK_CHECKS,
  ...EVERY_CHUNK_CHECKS,
  ...CHAT_STREAM_END_CHECKS,
  ...checksOfEvery("chat_stream"),
  {
    id: "chat_stream.no-empty-stream",
    rule:
      "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.",
    isSkillLive: true,
    reads: [TEXT_SCENARIO],
    each: (x, e) => {
      const text = textOfStream(x);
      // A model may spend the whole limit on thinking.
      const cut = x.frames.some(({ json }) =>
        textAt(json, "choices.0.finish_reason") === "length"
      );
      return demanded(e)(
        text !== "" || cut,
        "joined delta.content",
        "text",
        text,
        x,
      );
    },
    faults: {
      "chat-stream-empty": words(() => ""),
      ...sharedFaults("chat-message-frames"),
    },
  },
  ...CHAT_STREAM_USAGE_CHECKS,
]);
