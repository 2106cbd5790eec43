/** Checks of the area `chat_stream` that compare with the fixture's content. */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import {
  CHAT_CONTENTS,
  CHAT_FORMS,
  CHAT_ODDITIES,
  CHAT_SIZES,
} from "../chat_reply/scenarios.ts";
import { chatFrames, withAt } from "../../reference_gateway/change_reply.ts";
import {
  demanded,
  type Finding,
  NotTestable,
  observed,
} from "../../suite/finding.ts";
import { at, brief, sameJson, textAt } from "../../evidence/json_path.ts";
import { chatLengthAsStop } from "../chat_reply/faults.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import { objectOf } from "@model-gateway/replay/json";
import {
  before,
  CONTENT,
  reason,
  texts as faultTexts,
  upstreamPieces,
  words,
} from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { CHAT_STREAM_USAGE_CHECKS } from "./checks_usage.ts";
import {
  allowedFinishReasons,
  chatStreams,
  chunksWithChoice,
  finishes,
  fixtureContentOf,
  fixtureOf,
  fixtureText,
  isSpecified,
  textOfReply,
  textOfStream,
} from "../chat_reply/reply_content.ts";

const SECTION = "Chat completion endpoint stream";
const TEXT =
  "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.";
const FORMS = [TEXT_SCENARIO, CHAT_FORMS];
const CONTENTS = [...FORMS, "chat-contents"];
const TEXT_RULE = { section: SECTION, text: TEXT } as const;

/** Compares the joined text of streams with the fixture. */
function texts(e: Evidence): Finding[] {
  return chatStreams(e).map((x) => {
    const expected = fixtureText(fixtureContentOf(x));
    const found = textOfStream(x);
    return observed("joined delta.content", found.slice(0, 200), x).mustBe(
      expected.slice(0, 200),
      found === expected,
    );
  });
}

/** Compares the finish reasons of streams with the fixture. */
function reasons(
  e: Evidence,
  which: (x: Exchange) => boolean,
): Finding[] {
  // When the upstream sends no reason, the finishing chunk is judged elsewhere.
  const withReason = chatStreams(e).filter((x) =>
    fixtureOf(x) !== "done-no-finish" && which(x)
  );
  return withReason.map((x) => {
    const expected = allowedFinishReasons(x);
    const frame = chunksWithChoice(x).findLast(finishes);
    const found = textAt(frame?.json, "choices.0.finish_reason");
    return observed("choices.0.finish_reason", found, x, frame).mustBe(
      expected.join(" or ") || "a reason",
      found !== "" && (expected.length === 0 || expected.includes(found)),
    );
  });
}

/** Compares streams with the whole replies of the same fixture. */
function asWhole(e: Evidence): Finding[] {
  return chatStreams(e).map((x) => {
    const [whole] = e.replies(x.label.replace("/stream", "/whole"));
    if (whole === undefined) throw new NotTestable("no whole reply", x);
    const last = chunksWithChoice(x).findLast(finishes);
    const streamed = [
      textOfStream(x),
      textAt(last?.json, "choices.0.finish_reason"),
    ];
    const expected = [
      textOfReply(whole),
      textAt(whole.json, "choices.0.finish_reason"),
    ];
    // This fixture ends without a reason, so that a gateway may choose one.
    const same = fixtureOf(x) === "done-no-finish"
      ? streamed[0] === expected[0]
      : sameJson(streamed, expected);
    return observed("text and finish reason", brief(streamed), x).mustBe(
      `as in ${whole.label}: ${brief(expected)}`,
      same,
    );
  });
}

export const CHAT_STREAM_EXACT_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: chatStreams,
}, [
  {
    id: "chat_stream.text-exact",
    rule: TEXT_RULE,
    level: "documented",
    reads: CONTENTS,
    judge: texts,
    faults: {
      "chat-stream-delta-lost": faultTexts((_, data, x) =>
        before(x) === 1 ? undefined : data
      ),
      "chat-stream-first-delta-lost": faultTexts((_, data, x) =>
        before(x) === 0 ? undefined : data
      ),
      // The last text delta is lost.
      "chat-stream-last-delta-lost": chatFrames((data, { state }) => {
        const held = objectOf(state.get("held"));
        state.delete("held");
        if (textAt(data, CONTENT) !== "") {
          state.set("held", data);
          return Object.keys(held).length === 0 ? [] : [{ data: held }];
        }
        return data;
      }),
      "chat-stream-delta-twice": faultTexts((_, data, x) =>
        before(x) === 1 ? [{ data }, { data }] : data
      ),
      // Two text deltas are swapped.
      "chat-stream-deltas-swapped": chatFrames((data, x) => {
        const held = objectOf(x.state.get("held"));
        const waits = Object.keys(held).length > 0;
        x.state.delete("held");
        if (textAt(data, CONTENT) !== "" && !waits && before(x) === 0) {
          x.state.set("held", data);
          return [];
        }
        return waits ? [{ data }, { data: held }] : data;
      }),
      "chat-stream-delta-trimmed": words((text) => text.trim()),
      "chat-stream-deltas-grow": words((text, { state }) => {
        const all = `${state.get("all") ?? ""}${text}`;
        state.set("all", all);
        return all;
      }),
      "chat-stream-latin1": words((text) =>
        [...new TextEncoder().encode(text)].map((byte) =>
          String.fromCharCode(byte)
        ).join("")
      ),
      "chat-stream-thinking-leaks": {
        part: (part, { endpoint, stream }) =>
          endpoint === "chat" && stream && part.type === "thinking"
            ? [{ type: "text", text: part.text }]
            : [part],
      },
      "chat-stream-text-renamed": chatFrames((data) =>
        textAt(data, CONTENT) === ""
          ? data
          : withAt(data, "choices.0.delta", { text: textAt(data, CONTENT) })
      ),
      "chat-stream-letter-changed": words((text) => text.replace("o", "0")),
    },
  },
  {
    id: "chat_stream.text-exact-odd-upstreams",
    rule: TEXT_RULE,
    level: "documented",
    reads: [CHAT_ODDITIES],
    judge: texts,
    faults: shared("chat-stream-delta-trimmed"),
  },
  {
    id: "chat_stream.text-exact-long",
    rule: TEXT_RULE,
    level: "documented",
    reads: [CHAT_SIZES],
    judge: texts,
    faults: {
      "chat-stream-text-capped": faultTexts((_, data, x) =>
        before(x) >= 100 ? undefined : data
      ),
      "chat-stream-big-frame-cut": words((text) => text.slice(0, 65536)),
    },
  },
  {
    id: "chat_stream.utf8",
    source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
    rule:
      "Event streams are UTF-8, and no character of the answer is replaced by U+FFFD.",
    reads: CONTENTS,
    each: (x) =>
      observed("body", x.text.slice(0, 200)).mustBe(
        "valid UTF-8 without U+FFFD",
        x.validUtf8 && !x.text.includes("\ufffd") &&
          !x.text.includes("\\ufffd"),
      ),
    faults: {
      "chat-stream-characters-lost": upstreamPieces((piece) =>
        new TextEncoder().encode(new TextDecoder().decode(piece))
      ),
      // The stream is encoded as Latin-1.
      "chat-stream-bytes-lost": {
        writer: (writer, { endpoint, stream }) =>
          endpoint === "chat" && stream
            ? {
              ...writer,
              piece: (bytes) =>
                writer.piece(
                  Uint8Array.from(
                    new TextDecoder().decode(bytes),
                    (letter) => letter.charCodeAt(0),
                  ),
                ),
            }
            : writer,
      },
    },
  },
  {
    id: "chat_stream.finish-exact",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
    rule:
      "`finish_reason` is stop, length when the limit was reached, tool_calls when the model called a tool.",
    reads: CONTENTS,
    judge: (e) => reasons(e, isSpecified),
    faults: {
      "chat-stream-length-as-stop": reason("length", "stop"),
      "chat-stream-tools-as-stop": reason("tool_calls", "stop"),
    },
  },
  {
    id: "chat_stream.finish-exact-odd-upstreams",
    source:
      "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, choices[].finish_reason",
    rule:
      "`finish_reason` is stop, length when the limit or the window is full, content_filter when content is withheld, tool_calls when the model called a tool.",
    reads: [CHAT_CONTENTS, CHAT_ODDITIES],
    judge: (e) =>
      reasons(e, (x) => x.scenario === "chat-oddities" || !isSpecified(x)),
    faults: { "chat-stream-filter-as-stop": reason("content_filter", "stop") },
  },
  {
    id: "chat_stream.as-whole",
    source: "A stream is the same reply in pieces",
    rule: "A stream has the same content as the whole reply.",
    reads: CONTENTS,
    judge: asWhole,
    faults: {
      "chat-length-as-stop": chatLengthAsStop,
      ...shared("chat-stream-delta-lost"),
    },
  },
  {
    id: "chat_stream.as-whole-odd-upstreams",
    source: "A stream is the same reply in pieces",
    rule: "A stream has the same content as the whole reply.",
    reads: [CHAT_ODDITIES],
    judge: asWhole,
    faults: shared("chat-stream-first-delta-lost"),
  },
  {
    id: "chat_stream.no-empty-stream",
    section: SECTION,
    rule: TEXT,
    mode: "both",
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
      ...shared("chat-message-frames"),
    },
  },
  {
    id: "chat_stream.no-reply-in-one-chunk",
    section: "Stream behaviour",
    rule:
      "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    reads: [CHAT_SIZES],
    streams: "chat/*/stream/text-long",
    each: (x) => {
      const deltas = chunksWithChoice(x).filter(({ json }) =>
        textAt(json, "choices.0.delta.content") !== ""
      );
      return observed("chunks with text", `${deltas.length}`).mustBe(
        "more than one: the upstream sends many",
        deltas.length > 1,
      );
    },
    faults: {
      // The text is buffered and sent in one chunk.
      "chat-stream-text-in-one-chunk": chatFrames((data, { state }) => {
        const all = `${state.get("all") ?? ""}${textAt(data, CONTENT)}`;
        state.set("all", all);
        if (at(data, "choices.0.finish_reason") === null) {
          return textAt(data, CONTENT) === "" ? data : undefined;
        }
        state.delete("all");
        if (all === "") return data;
        const chunk = withAt(data, "choices", [{
          index: 0,
          delta: { content: all },
          finish_reason: null,
        }]);
        return [{ data: chunk }, { data }];
      }),
    },
  },
  ...CHAT_STREAM_USAGE_CHECKS,
]);
