/** Checks of the area `chat_stream` that compare with the fixture's content. */
import type { Exchange } from "../../evidence/exchange.ts";
import { brief, sameJson, textAt } from "../../evidence/json_path.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  demanded,
  fact,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
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
const FORMS = ["text", "chat-forms"];
const CONTENTS = [...FORMS, "chat-contents"];
const TEXT_RULE = { section: SECTION, text: TEXT } as const;

/** Compares the joined text of streams with the fixture. */
function texts(e: Evidence): Finding[] {
  return chatStreams(e).map((x) => {
    const expected = fixtureText(fixtureContentOf(x));
    const found = textOfStream(x);
    return fact(
      found === expected,
      "joined delta.content",
      expected.slice(0, 200),
      found.slice(0, 200),
      x,
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
    return fact(
      found !== "" && (expected.length === 0 || expected.includes(found)),
      "choices.0.finish_reason",
      expected.join(" or ") || "a reason",
      found,
      x,
      frame,
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
    return fact(
      same,
      "text and finish reason",
      `as in ${whole.label}: ${brief(expected)}`,
      brief(streamed),
      x,
    );
  });
}

/** Part of `CHAT_STREAM_CHECKS`. */
export const CHAT_STREAM_EXACT_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
}, [
  {
    id: "chat_stream.text-exact",
    rule: TEXT_RULE,
    level: "documented",
    reads: CONTENTS,
    judge: texts,
    mutants: [
      "chat-stream-delta-lost",
      "chat-stream-first-delta-lost",
      "chat-stream-last-delta-lost",
      "chat-stream-delta-twice",
      "chat-stream-deltas-swapped",
      "chat-stream-delta-trimmed",
      "chat-stream-deltas-grow",
      "chat-stream-latin1",
      "chat-stream-thinking-leaks",
      "chat-stream-text-renamed",
      "chat-stream-letter-changed",
    ],
  },
  {
    id: "chat_stream.text-exact-odd-upstreams",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-oddities"],
    judge: texts,
    mutants: ["chat-stream-delta-trimmed"],
  },
  {
    id: "chat_stream.text-exact-long",
    rule: TEXT_RULE,
    level: "documented",
    reads: ["chat-sizes"],
    judge: texts,
    mutants: ["chat-stream-text-capped", "chat-stream-big-frame-cut"],
  },
  {
    id: "chat_stream.utf8",
    rule: {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text:
        "Event streams are UTF-8, and no character of the answer is replaced by U+FFFD.",
    },
    reads: CONTENTS,
    judge: (e) =>
      chatStreams(e).map((x) =>
        fact(
          x.validUtf8 && !x.text.includes("\ufffd") &&
            !x.text.includes("\\ufffd"),
          "body",
          "valid UTF-8 without U+FFFD",
          x.text.slice(0, 200),
          x,
        )
      ),
    mutants: ["chat-stream-characters-lost", "chat-stream-bytes-lost"],
  },
  {
    id: "chat_stream.finish-exact",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
      text:
        "`finish_reason` is stop, length when the limit was reached, tool_calls when the model called a tool.",
    },
    reads: CONTENTS,
    judge: (e) => reasons(e, isSpecified),
    mutants: [
      "chat-stream-length-as-stop",
      "chat-stream-tools-as-stop",
    ],
  },
  {
    id: "chat_stream.finish-exact-odd-upstreams",
    rule: {
      source:
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, choices[].finish_reason",
      text:
        "`finish_reason` is stop, length when the limit or the window is full, content_filter when content is withheld, tool_calls when the model called a tool.",
    },
    reads: ["chat-contents", "chat-oddities"],
    judge: (e) =>
      reasons(e, (x) => x.scenario === "chat-oddities" || !isSpecified(x)),
    mutants: ["chat-stream-filter-as-stop"],
  },
  {
    id: "chat_stream.as-whole",
    rule: {
      source: "A stream is the same reply in pieces",
      text: "A stream has the same content as the whole reply.",
    },
    reads: CONTENTS,
    judge: asWhole,
    mutants: ["chat-stream-delta-lost", "chat-length-as-stop"],
  },
  {
    id: "chat_stream.as-whole-odd-upstreams",
    rule: {
      source: "A stream is the same reply in pieces",
      text: "A stream has the same content as the whole reply.",
    },
    reads: ["chat-oddities"],
    judge: asWhole,
    mutants: ["chat-stream-first-delta-lost"],
  },
  {
    id: "chat_stream.no-empty-stream",
    rule: { section: SECTION, text: TEXT },
    mode: "both",
    isSkillLive: true,
    reads: ["text"],
    judge: (e) =>
      chatStreams(e).map((x) => {
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
      }),
    mutants: ["chat-stream-empty", "chat-message-frames"],
  },
  {
    id: "chat_stream.no-reply-in-one-chunk",
    rule: {
      section: "Stream behaviour",
      text:
        "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    },
    reads: ["chat-sizes"],
    judge: (e) =>
      e.streams("chat/*/stream/text-long").map((x) => {
        const deltas = chunksWithChoice(x).filter(({ json }) =>
          textAt(json, "choices.0.delta.content") !== ""
        );
        return fact(
          deltas.length > 1,
          "chunks with text",
          "more than one: the upstream sends many",
          `${deltas.length}`,
          x,
        );
      }),
    mutants: ["chat-stream-text-in-one-chunk"],
  },
  ...CHAT_STREAM_USAGE_CHECKS,
]);
