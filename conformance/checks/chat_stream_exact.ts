/** Checks of the area `chat_stream` that know the answer. */
import type { Exchange } from "../evidence/exchange.ts";
import { brief, sameJson, textAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { demanded, fact, type Finding, NotTestable } from "../suite/finding.ts";
import { CHAT_STREAM_USAGE_CHECKS } from "./chat_stream_usage.ts";
import {
  chatStreams,
  chunksWithChoice,
  finishes,
  finishesFor,
  fixtureOf,
  isSpecified,
  saidTo,
  textOfReply,
  textOfStream,
  textSaid,
} from "./chat_content.ts";

const SECTION = "Chat completion endpoint stream";
const TEXT =
  "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.";
const FORMS = ["text", "chat-forms"];
const CONTENTS = [...FORMS, "chat-contents"];
const TEXT_RULE = { section: SECTION, text: TEXT } as const;

const STOP_RULE = {
  section: "Equivalent fields between the two formats",
  text: "| Stop cause | `stop_reason` | `finish_reason` |",
} as const;

const STREAM_RULE = {
  section: "POST /v1/chat/completions (operation `createChatCompletion`)",
  text: "Default false. true returns event chunks",
} as const;

/** The joined text of streams. */
function texts(e: Evidence): Finding[] {
  return chatStreams(e).map((x) => {
    const said = textSaid(saidTo(x));
    const found = textOfStream(x);
    return fact(
      found === said,
      "joined delta.content",
      said.slice(0, 200),
      found.slice(0, 200),
      x,
    );
  });
}

/** The finish reasons of streams. */
function reasons(
  e: Evidence,
  which: (x: Exchange) => boolean,
): Finding[] {
  // An upstream that tells no reason is judged with the finishing chunk.
  const told = chatStreams(e).filter((x) =>
    fixtureOf(x) !== "done-no-finish" && which(x)
  );
  return told.map((x) => {
    const expected = finishesFor(x);
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

/** Streams beside the whole replies of the same fixture. */
function asWhole(e: Evidence): Finding[] {
  return chatStreams(e).map((x) => {
    const [whole] = e.replies(x.label.replace("/stream", "/whole"));
    if (whole === undefined) throw new NotTestable("no whole reply", x);
    const last = chunksWithChoice(x).findLast(finishes);
    const streamed = [
      textOfStream(x),
      textAt(last?.json, "choices.0.finish_reason"),
    ];
    const told = [
      textOfReply(whole),
      textAt(whole.json, "choices.0.finish_reason"),
    ];
    // This one ends without a reason; what stands for it is free.
    const same = fixtureOf(x) === "done-no-finish"
      ? streamed[0] === told[0]
      : sameJson(streamed, told);
    return fact(
      same,
      "text and finish reason",
      `as in ${whole.label}: ${brief(told)}`,
      brief(streamed),
      x,
    );
  });
}

/** The checks. */
export const CHAT_STREAM_EXACT_CHECKS: readonly Check[] = [
  {
    id: "chat_stream.text-exact",
    rule: TEXT_RULE,
    level: "documented",
    mode: "replay",
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
    mode: "replay",
    reads: ["chat-oddities"],
    judge: texts,
    mutants: ["chat-stream-delta-trimmed"],
  },
  {
    id: "chat_stream.text-exact-long",
    rule: TEXT_RULE,
    level: "documented",
    mode: "replay",
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
    level: "convention",
    mode: "replay",
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
    rule: STOP_RULE,
    level: "documented",
    mode: "replay",
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
    level: "convention",
    mode: "replay",
    reads: ["chat-contents", "chat-oddities"],
    judge: (e) =>
      reasons(e, (x) => x.scenario === "chat-oddities" || !isSpecified(x)),
    mutants: ["chat-stream-filter-as-stop"],
  },
  {
    id: "chat_stream.as-whole",
    rule: STREAM_RULE,
    level: "documented",
    mode: "replay",
    reads: CONTENTS,
    judge: asWhole,
    mutants: ["chat-stream-delta-lost", "chat-length-as-stop"],
  },
  {
    id: "chat_stream.as-whole-odd-upstreams",
    rule: STREAM_RULE,
    level: "documented",
    mode: "replay",
    reads: ["chat-oddities"],
    judge: asWhole,
    mutants: ["chat-stream-first-delta-lost"],
  },
  {
    id: "chat_stream.no-empty-stream",
    rule: { section: SECTION, text: TEXT },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      chatStreams(e).map((x) => {
        const text = textOfStream(x);
        // A model may have spent the whole limit on thinking.
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
    level: "documented",
    mode: "replay",
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
];
