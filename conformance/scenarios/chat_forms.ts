/** Scenarios of the chat endpoint: each form that a reply can take, whole and streamed, on every route. */
import { WRITTEN } from "../fixtures/mod.ts";
import type { JsonObject } from "../replay/json.ts";
import { plainAsk, streamed, toolsFor } from "../suite/asks.ts";
import { calls, type Scenario } from "../suite/scenario.ts";

/** A reply to ask for. */
interface Form {
  /** The fixture; the last part of the label. */
  readonly fixture: string;
  /** What to ask a real model; absent when it cannot be made to answer so. */
  readonly words?: string;
  /** Members of the body. */
  readonly more?: JsonObject;
}

/** The limit of the reply that is cut. */
export const CUT_AT = 16;

const FORMS: readonly Form[] = [
  {
    fixture: "max-tokens",
    words: "Count from one to five hundred in words.",
    more: { max_tokens: CUT_AT },
  },
  { fixture: "tool-parallel" },
];

/** Content and causes that a plain answer does not have. */
const CONTENTS: readonly Form[] = [
  { fixture: "stop-sequence", more: { stop: ["END"] } },
  ...["text-unicode", "thinking", "content-filter", "cache-usage"]
    .map((fixture) => ({ fixture })),
];

/** Replies that vendors give seldom, or tell in a way of their own. */
const ODDITIES: readonly Form[] = [
  "empty",
  "redacted-thinking",
  "refusal",
  "blocked",
  "context-window",
  "pause-turn",
  "unknown-stop",
  "unknown-event",
  "citations",
  "server-tool",
  "reasoning-usage",
  "usage-late",
  "usage-on-finish",
  "role-repeated",
  "done-no-finish",
  "first-frame-empty",
  "finish-every-frame",
  "tool-whole",
  "stop-with-tools",
  "text-blanks",
  "tool-odd-args",
  "tool-many",
].map((fixture) => ({ fixture }));

const SIZES: readonly Form[] = ["text-long", "big-frame"]
  .map((fixture) => ({ fixture }));

/** The tools that a fixture calls, on offer. */
function toolsOf(fixture: string): JsonObject {
  const names = (WRITTEN.get(fixture)?.says.tools ?? []).map(({ name }) =>
    name
  );
  return names.length === 0 ? {} : toolsFor("chat", [...new Set(names)]);
}

/** The two forms of a reply, and what asks for them. */
const HOW = [["whole", {}], ["stream", streamed("chat")]] as const;

/** Labels are `chat/ROUTE/whole/FIXTURE` and `chat/ROUTE/stream/FIXTURE`. */
function scenario(
  name: string,
  about: string,
  mode: Scenario["mode"],
  forms: readonly Form[],
): Scenario {
  return {
    name,
    about,
    mode,
    cost: (profile) =>
      calls(2 * forms.length * profile.chat.length, 64)(profile),
    async play(lab) {
      const asked = forms.filter(({ words }) =>
        lab.mode === "replay" || words !== undefined
      );
      for (const route of lab.routes("chat")) {
        await Promise.all(
          asked.flatMap(({ fixture, words = "Answer.", more }) =>
            HOW.map(([how, asStream]) =>
              lab.send(plainAsk(
                "chat",
                route,
                `${how}/${fixture}`,
                lab.prompt(fixture, words),
                { ...toolsOf(fixture), ...more, ...asStream },
              ))
            )
          ),
        );
      }
    },
  };
}

/** Ways to ask for a stream without its usage. */
const UNASKED: Readonly<Record<string, JsonObject>> = {
  absent: { stream: true },
  false: { stream: true, stream_options: { include_usage: false } },
};

const USAGE_UNASKED: Scenario = {
  name: "chat-usage-unasked",
  about: "Streams of the chat endpoint that ask for no usage",
  mode: "both",
  cost: (profile) => calls(2 * profile.chat.length, 64)(profile),
  async play(lab) {
    for (const route of lab.routes("chat")) {
      await Promise.all(
        Object.entries(UNASKED).map(([form, more]) =>
          lab.send(plainAsk(
            "chat",
            route,
            `stream-${form}`,
            lab.prompt("text", "Say hello in one short sentence."),
            more,
          ))
        ),
      );
    }
  },
};

/** Streams that the upstream does not bring to their end. */
export const CHAT_BREAKS = [
  "error-mid",
  "error-event",
  "cut",
  "cut-chunk",
  "cut-frame",
  "reset",
] as const;

/** Streams that fail before any word. */
export const CHAT_FALSE_STARTS = ["error-first", "empty-200"] as const;

const BROKEN: Scenario = {
  name: "chat-broken",
  about: "Streams of the chat endpoint that fail, at once or in the middle",
  mode: "replay",
  cost: ({ chat }) => ({
    requests: (CHAT_BREAKS.length + CHAT_FALSE_STARTS.length) * chat.length,
    inputTokens: 0,
    outputTokens: 0,
  }),
  async play(lab) {
    for (const route of lab.routes("chat")) {
      await Promise.all(
        [...CHAT_BREAKS, ...CHAT_FALSE_STARTS].map((fixture) =>
          lab.send(plainAsk(
            "chat",
            route,
            fixture,
            lab.prompt(fixture, "Say hello."),
            streamed("chat"),
          ))
        ),
      );
    }
  },
};

const STREAM_FALSE: Scenario = {
  name: "chat-stream-false",
  about: "Replies of the chat endpoint with stream told as false",
  mode: "both",
  cost: (profile) => calls(profile.chat.length, 64)(profile),
  async play(lab) {
    await Promise.all(
      lab.routes("chat").map((route) =>
        lab.send(plainAsk(
          "chat",
          route,
          "whole",
          lab.prompt("text", "Say hello in one short sentence."),
          { stream: false },
        ))
      ),
    );
  },
};

/** The scenarios. */
export const CHAT_FORM_SCENARIOS: readonly Scenario[] = [
  scenario(
    "chat-forms",
    "A limit that hits and parallel tool calls on the chat endpoint",
    "both",
    FORMS,
  ),
  scenario(
    "chat-contents",
    "Many scripts, stop strings, thinking, a filter and cached input on the chat endpoint",
    "replay",
    CONTENTS,
  ),
  scenario(
    "chat-oddities",
    "Rare replies and rare ways to tell them on the chat endpoint",
    "replay",
    ODDITIES,
  ),
  scenario(
    "chat-sizes",
    "200 deltas and a frame of 256 KiB on the chat endpoint",
    "replay",
    SIZES,
  ),
  USAGE_UNASKED,
  STREAM_FALSE,
  BROKEN,
];
