/** Rules for the replies of every endpoint: text, end and token counts are the upstream's. */
import { changeParts } from "../../faults/change_hooks.ts";
import { textAt } from "../../evidence/json_path.ts";
import { chatFrames, messageReply, withAt } from "../../faults/change_reply.ts";
import {
  changePieces,
  count,
  type ReplyForm,
} from "../../endpoints/reply_form.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { asLatin1, delta } from "../../faults/change_messages.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import type { Check, Misses, Rule } from "../../suite/check.ts";
import {
  fact,
  factOf,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
import { onEvery, some, unusualOf } from "./on_every.ts";

const EQUIVALENT = "Equivalent fields between the two formats";
const TEXT: Rule = {
  section: EQUIVALENT,
  text: "| Reply text | `content[0].text` | `choices[0].message.content` |",
};
const MESSAGE_DELTA: Rule = {
  section: "Message endpoint stream",
  text: "Text arrives in `delta.text`",
};
const CHAT_DELTA =
  "Text arrives at `choices[0].delta.content`; chunks carry `choices[].index`.";
export const STOPS: Rule = {
  section: "States and transitions",
  text: "they describe why one reply ended and are not states that move.",
};
const CHAT = "https://platform.openai.com/docs/api-reference/chat/object";
const FINISH: Rule = {
  source: `${CHAT}, choices[].finish_reason`,
  text:
    "`finish_reason` is stop, length when the limit was reached, tool_calls when the model called a tool.",
};
const ODD_FINISH: Rule = {
  source: `${CHAT}, choices[].finish_reason`,
  text:
    "`finish_reason` is stop, length when the limit or the window is full, content_filter when content is withheld, tool_calls when the model called a tool.",
};
const MESSAGE_USAGE =
  "Final output token count arrives here, not in message_start";
const CHAT_USAGE: Rule = {
  section: EQUIVALENT,
  text: "| Output tokens | `usage.output_tokens` | `usage.completion_tokens` |",
};
const SAME: Rule = {
  source: "A stream is the same reply in pieces",
  text: "A stream has the same content as the whole reply.",
};
const CONTENT_TEXT: Rule = {
  section: "Generate content reply",
  text:
    "The texts of the parts that are no thoughts are the text of the reply.",
};
const CONTENT_END: Rule = {
  section: "Generate content reply",
  text:
    "`finishReason` is `STOP` for a complete reply, also for one with calls, `MAX_TOKENS` for one that reached its limit, and a filter's reason, such as `SAFETY`, for one that was refused.",
};
const CONTENT_USAGE: Rule = {
  section: "Generate content reply",
  text:
    "`promptTokenCount` counts the whole prompt with its cached part, and `candidatesTokenCount` the answer without the thoughts.",
};
const BUFFERED: Rule = {
  section: "Stream behaviour",
  text:
    "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
};

/** Gateways' mistakes with a text, whole or in a piece. */
function textFaults(form: ReplyForm): Misses {
  const { changeText, isStream } = form;
  return {
    trimmed: changeText((text) => text.trim().replace(/\.$/, "")),
    doubled: changeText((text) => text + text),
    changed: changeText((text) => text.replace("o", "0")),
    "first-part": {
      part: (part, x) => {
        if (!isOf(form, x) || part.type !== "text") return [part];
        return count(x, "texts") === 0 ? [part] : [];
      },
    },
    thinking: {
      part: (part, x) =>
        isOf(form, x) && part.type === "thinking"
          ? [{ type: "text", text: part.text }]
          : [part],
    },
    ...(isStream ? pieceFaults(form) : {}),
    ...(form.area === "responses"
      ? { "refusal-as-text": REFUSAL_AS_TEXT }
      : {}),
  };
}

/** The words of a refusal are sent as text. */
const REFUSAL_AS_TEXT: Hooks = changeParts(
  "text",
  (part) => ({ type: "text", text: part.text }),
);

/** The text is in a member of another name. */
const RENAMED: Hooks = chatFrames((data) => {
  const text = textAt(data, "choices.0.delta.content");
  return text === "" ? data : withAt(data, "choices.0.delta", { text });
});

/** Mistakes that only texts of other scripts show. */
function scriptFaults({ changeText }: ReplyForm): Misses {
  return {
    latin1: changeText((text) =>
      asLatin1(text.slice(0, 4096)) + text.slice(4096)
    ),
    decomposed: changeText((text) => text.normalize("NFKD")),
  };
}

/** Mistakes that only texts with marks and runs of blanks show. */
function blankFaults({ changeText }: ReplyForm): Misses {
  return {
    escaped: changeText((text) =>
      text.replaceAll("'", "&#39;").replaceAll('"', "&quot;")
        .replaceAll("<", "&lt;")
    ),
    collapsed: changeText((text) => text.replace(/\s\s+/g, " ")),
  };
}

function isOf({ endpoint, isStream }: ReplyForm, x: Context): boolean {
  return x.endpoint === endpoint && x.stream === isStream;
}

/** Gateways' mistakes with the pieces of a text. */
function pieceFaults(form: ReplyForm): Misses {
  const at = (
    wanted: number,
    change: (frame: OutFrame) => readonly OutFrame[],
  ): Hooks =>
    changePieces(
      form,
      (frame, number) => number === wanted ? change(frame) : [frame],
    );
  const held = new WeakMap<Context, OutFrame>();
  return {
    "piece-lost": at(1, () => []),
    "first-piece-lost": at(0, () => []),
    "piece-twice": at(1, (frame) => [frame, frame]),
    "pieces-swapped": changePieces(form, (frame, number, x) => {
      const first = held.get(x);
      if (number === 0) held.set(x, frame);
      return number === 0
        ? []
        : number === 1 && first !== undefined
        ? [frame, first]
        : [frame];
    }),
    "last-piece-lost": {
      frame: (frame, x) => {
        const before = held.get(x);
        held.delete(x);
        if (
          x.endpoint !== form.endpoint || typeof frame.data === "string" ||
          !form.hasText(frame.data)
        ) return [frame];
        held.set(x, frame);
        return before === undefined ? [] : [before];
      },
    },
    ...(form.area === "chat_stream" ? { renamed: RENAMED } : {}),
    "growing": form.changeText((text, number, x) => {
      const all = number === 0 ? text : `${x?.state.get("all") ?? ""}${text}`;
      x?.state.set("all", all);
      return all;
    }),
  };
}

/** Mistakes that only a long reply shows. */
function longFaults(form: ReplyForm): Misses {
  return {
    cut: form.changeText((text) => text.slice(0, 65_536)),
    ...(form.isStream
      ? {
        capped: changePieces(form, (frame, number) =>
          number >= 100 ? [] : [frame]),
      }
      : { short: form.changeText((text) => text.slice(0, 1024)) }),
  };
}

function text(form: ReplyForm): (x: Exchange) => Finding {
  return (x) => {
    const right = form.texts(form.content(x));
    const found = form.text(x);
    return factOf("text", found.slice(0, 200), x).mustBe(
      right.map((each) => each.slice(0, 200)).join(" or "),
      right.includes(found),
    );
  };
}

function stopFaults(form: ReplyForm, ...causes: readonly string[]): Misses {
  const words = Object.entries(form.stopWords).filter(([cause]) =>
    causes.includes(cause)
  );
  return Object.fromEntries(words.flatMap(([cause, word]) => [
    [
      `${cause}-as-${cause === "end" ? "limit" : "end"}`,
      form.changeStop(
        word,
        form.stopWords[cause === "end" ? "max_tokens" : "end"] ?? null,
      ),
    ],
    [`${cause}-null`, form.changeStop(word, null)],
  ]));
}

function stop(form: ReplyForm): (x: Exchange) => readonly Finding[] {
  return (x) => {
    const right = form.stops(x);
    const { value, frame } = form.stop(x);
    return [
      factOf("reason of the end", value, x, frame).mustBe(
        right.join(" or ") || "a reason",
        typeof value === "string" && value !== "" &&
          (right.length === 0 || right.includes(value)),
      ),
      ...form.alsoAtEnd?.(x) ?? [],
    ];
  };
}

/** The whole replies of a stream's endpoint. */
function wholeOf(form: ReplyForm): ReplyForm {
  return form.whole ?? form;
}

/** The scenarios of streams and of the same replies as a whole. */
function bothForms(form: ReplyForm): readonly string[] {
  const names = [form, wholeOf(form)].flatMap(({ exact, unusual }) => [
    ...exact,
    ...unusual["-rare"] ?? [],
  ]);
  return [...new Set(names)];
}

/** Another stop sequence than the one that hit is reported. */
const SEQUENCE_OTHER: Hooks = messageReply((body) =>
  body["stop_sequence"] === "END" ? { ...body, stop_sequence: "STOP" } : body
);

/** Stop causes that the specification names. */
const SPECIFIED = ["end", "max_tokens", "stop_sequence", "tool_use"];

function usageFaults(
  form: ReplyForm,
): Misses & Readonly<Record<"without-cache" | "cache-twice", Hooks>> {
  const { changeUsage } = form;
  return {
    "input-off-by-one": changeUsage(({ input, output }) => ({
      input: input + 1,
      output,
    })),
    "output-off-by-one": changeUsage(({ input, output }) => ({
      input,
      output: output + 1,
    })),
    "output-doubled": changeUsage(({ input, output }) => ({
      input,
      output: 2 * output,
    })),
    "output-1": changeUsage(({ input }) => ({ input, output: 1 })),
    "swapped": changeUsage(({ input, output }) => ({
      input: output,
      output: input,
    })),
    "zero": changeUsage(() => ({ input: 0, output: 0 })),
    "without-cache": changeUsage(({ input, output, cached }) => ({
      input: input - cached,
      output,
    })),
    ...(form.area === "chat_stream" ? { "first-figures": FIRST_FIGURES } : {}),
    "cache-twice": changeUsage(({ input, output, cached }) => ({
      input: input + cached,
      output,
    })),
  };
}

/** The first of the upstream's token counts is kept. */
const FIRST_FIGURES: Hooks = {
  part: (part, x) =>
    x.endpoint !== "chat" || part.type !== "usage" || count(x, "usage") === 0
      ? [part]
      : [],
};

export const CONTENT_CHECKS: readonly Check[] = [
  ...onEvery({
    ids: {
      "message_reply.text-exact": TEXT,
      "message_reply.text-exact-rare": TEXT,
      "message_stream.text-exact": MESSAGE_DELTA,
      "message_stream.text-exact-rare": MESSAGE_DELTA,
      "chat_reply.text-exact": TEXT,
      "chat_reply.text-exact-odd-upstreams": TEXT,
      "chat_reply.text-exact-long": TEXT,
      "chat_stream.text-exact": CHAT_DELTA,
      "chat_stream.text-exact-odd-upstreams": CHAT_DELTA,
      "chat_stream.text-exact-long": CHAT_DELTA,
      "generate_content_reply.text-exact": CONTENT_TEXT,
      "generate_content_stream.text-exact": CONTENT_TEXT,
      "generate_content_array.text-exact": CONTENT_TEXT,
      "responses.text-exact":
        "The `output_text` parts hold the text of the reply, and a `refusal` part the words with which the model declines.",
    },
    each: text,
    faults: (form, id) => {
      const isUsual = unusualOf(id, form) === undefined;
      const isRare = id.endsWith("-rare");
      return {
        ...(isUsual ? textFaults(form) : some(
          textFaults(form),
          "trimmed",
          "first-part",
          "first-piece-lost",
        )),
        // The usual replies of the message endpoint are plain.
        ...(isRare || (isUsual && form.endpoint !== "messages")
          ? { ...scriptFaults(form), ...blankFaults(form) }
          : {}),
        ...(id.endsWith("-odd-upstreams") ? blankFaults(form) : {}),
        ...(isRare || id.endsWith("-long") ? longFaults(form) : {}),
      };
    },
  }),
  ...onEvery({
    ids: {
      "message_reply.stop-exact": STOPS,
      "message_reply.stop-exact-rare": STOPS,
      "message_stream.stop-exact": STOPS,
      "message_stream.stop-exact-rare": STOPS,
    },
    each: stop,
    faults: (form, id) => ({
      ...stopFaults(form, "end", "max_tokens", "tool_use"),
      ...(unusualOf(id, form) === undefined
        ? stopFaults(form, "stop_sequence")
        : {}),
      ...(id === "message_reply.stop-exact"
        ? { "sequence-other": SEQUENCE_OTHER }
        : {}),
    }),
  }),
  ...onEvery({
    ids: {
      "responses.status-exact":
        "A reply that reached its limit, or stopped for a reason that the format has no word for, is `incomplete` with `max_output_tokens`, one that a filter cut with `content_filter`, and every other one is `completed`.",
    },
    each: stop,
    faults: (form) => ({
      ...stopFaults(form, "end", "max_tokens", "refusal"),
      "refusal-as-limit": form.changeStop(
        "content_filter",
        "max_output_tokens",
      ),
    }),
  }),
  ...onEvery({
    ids: {
      "generate_content_reply.finish-exact": CONTENT_END,
      "generate_content_stream.finish-exact": CONTENT_END,
      "generate_content_array.finish-exact": CONTENT_END,
    },
    each: stop,
    faults: (form) => stopFaults(form, "end", "max_tokens", "refusal"),
  }),
  ...onEvery({
    ids: {
      "chat_reply.finish-exact": FINISH,
      "chat_stream.finish-exact": FINISH,
    },
    // When the upstream sends no reason, the end is judged elsewhere.
    of: (form, e) =>
      form.replies(e).filter((x) => SPECIFIED.includes(form.content(x).stop)),
    each: stop,
    faults: (form) => stopFaults(form, "end", "max_tokens", "tool_use"),
  }),
  ...onEvery({
    ids: {
      "chat_reply.finish-exact-odd-upstreams": ODD_FINISH,
      "chat_stream.finish-exact-odd-upstreams": ODD_FINISH,
    },
    reads: () => ["chat-contents", "chat-oddities"],
    of: (form, e) =>
      form.replies(e).filter((x) =>
        form.fixture(x) !== "done-no-finish" &&
        (x.scenario === "chat-oddities" ||
          !SPECIFIED.includes(form.content(x).stop))
      ),
    each: stop,
    faults: (form) => stopFaults(form, "refusal", "end"),
  }),
  ...onEvery({
    ids: {
      "message_reply.usage-exact":
        "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",
      "message_reply.usage-exact-rare":
        "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",
      "message_stream.usage-exact": MESSAGE_USAGE,
      "message_stream.usage-exact-rare": MESSAGE_USAGE,
      "chat_reply.usage-exact":
        "| usage.prompt_tokens | integer | Input tokens |",
      "chat_reply.usage-exact-odd-upstreams":
        "| usage.total_tokens | integer | Sum of the two |",
      "chat_stream.usage-exact": CHAT_USAGE,
      "chat_stream.usage-exact-odd-upstreams": CHAT_USAGE,
      "generate_content_reply.usage-exact": CONTENT_USAGE,
      "generate_content_stream.usage-exact": CONTENT_USAGE,
      "generate_content_array.usage-exact": CONTENT_USAGE,
      "responses.usage-exact":
        "`input_tokens` counts the whole prompt with its cached part.",
    },
    each: ({ usage }) => usage,
    faults: (form, id) => {
      const { "without-cache": without, "cache-twice": twice, ...plain } =
        usageFaults(form);
      const faults: Misses = form.area === "message_stream"
        // Where a message stream reports its input is judged elsewhere.
        ? some(plain, "output-off-by-one", "output-doubled", "output-1", "zero")
        : plain;
      const cached: Misses = { "without-cache": without, "cache-twice": twice };
      if (unusualOf(id, form) === undefined) {
        return form.endpoint === "messages" ? faults : { ...faults, ...cached };
      }
      return {
        ...some(faults, "input-off-by-one", "output-off-by-one", "zero"),
        ...(id === "message_reply.usage-exact-rare"
          ? some(cached, "cache-twice")
          : {}),
      };
    },
  }),
  ...onEvery({
    ids: {
      "message_stream.same-as-whole": SAME,
      "chat_stream.as-whole": SAME,
      "chat_stream.as-whole-odd-upstreams": SAME,
      "generate_content_stream.as-whole":
        "The parts of the objects, joined, are those of the whole reply.",
      "generate_content_array.as-whole":
        "The parts of its elements, joined, are those of the whole reply.",
    },
    reads: bothForms,
    all: (form, streams, e) =>
      streams.map((x) => {
        const label = x.label.replace(/\/(stream|array)\b/, "/whole");
        const [whole] = e.replies(label);
        if (whole === undefined) throw new NotTestable(`no ${label}`, x);
        const found = form.essence(x);
        const expected = wholeOf(form).essence(whole);
        return fact(found === expected, "the reply", expected, found, x);
      }),
    faults: (form) => ({
      ...some(textFaults(form), "trimmed", "piece-lost", "first-piece-lost"),
      ...stopFaults(form, "max_tokens", "tool_use"),
      ...stopFaults(wholeOf(form), "end"),
      ...(form.endpoint === "messages"
        ? {
          ...some(usageFaults(form), "output-1"),
          "signature-lost": delta("signature_delta", () => undefined),
        }
        : {}),
    }),
  }),
  ...onEvery({
    ids: {
      "message_stream.in-pieces": BUFFERED,
      "chat_stream.no-reply-in-one-chunk": BUFFERED,
      "generate_content_stream.in-pieces": BUFFERED,
      "generate_content_array.in-pieces": BUFFERED,
    },
    reads: ({ endpoint }) => [
      endpoint === "chat" ? "chat-sizes" : "message-sizes-stream",
    ],
    of: (form, e) =>
      form.replies(e).filter((x) => form.fixture(x) === "text-long"),
    // Two is low for 200 frames of the upstream, since a gateway may join pieces that arrive
    // together.
    each: (form) => (x) => {
      const pieces = form.pieces(x);
      return factOf("pieces with text", pieces, x).mustBe(
        "several: the upstream sends many",
        pieces >= 2,
      );
    },
    faults: (form) => ({
      "one-piece": {
        part: (part, x) => {
          if (!isOf(form, x)) return [part];
          const held = `${x.state.get("held") ?? ""}`;
          if (part.type === "text") {
            x.state.set("held", held + part.text);
            return [];
          }
          if (part.type !== "stop" || held === "") return [part];
          x.state.delete("held");
          return [{ type: "text", text: held }, part];
        },
      },
    }),
  }),
];
