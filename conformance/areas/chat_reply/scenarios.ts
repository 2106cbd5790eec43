/** Scenarios of the chat endpoint: each kind of reply, whole and streamed, on every route. */
import { eachForm, failingStreams } from "../../suite/one_request.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { JsonObject } from "@model-gateway/replay/json";
import { plainRequest, streamed, toolsFor } from "../../suite/requests.ts";
import { calls, type Scenario } from "../../suite/scenario.ts";

// Names of scenarios that other areas read.
export const CHAT_BROKEN = "chat-broken";
export const CHAT_CONTENTS = "chat-contents";
export const CHAT_FORMS = "chat-forms";
export const CHAT_ODDITIES = "chat-oddities";
export const CHAT_SIZES = "chat-sizes";
export const CHAT_USAGE_UNASKED = "chat-usage-unasked";

/** A kind of reply to request. */
interface Form {
  /** Name of the fixture; the last part of the label. */
  readonly fixture: string;
  /** Prompt for a real model; absent when no prompt makes a real model reply like this. */
  readonly words?: string;
  /** Additional members of the body. */
  readonly more?: JsonObject;
}

/** Number of the forms that a real model can be asked for. */
function askedLive(forms: readonly Form[]): number {
  return forms.filter(({ words }) => words !== undefined).length;
}

/** The output limit that truncates a reply. */
export const CUT_AT = 16;

const FORMS: readonly Form[] = [
  {
    fixture: "max-tokens",
    words: "Count from one to five hundred in words.",
    more: { max_tokens: CUT_AT },
  },
  { fixture: "tool-parallel" },
];

/** Content and stop causes that differ from a plain answer. */
const CONTENTS: readonly Form[] = [
  { fixture: "stop-sequence", more: { stop: ["END"] } },
  ...["text-unicode", "thinking", "content-filter", "cache-usage"]
    .map((fixture) => ({ fixture })),
];

/** Replies that vendors send rarely, or encode unusually. */
const ODDITIES: readonly Form[] = [
  "empty",
  "redacted-thinking",
  "refusal",
  "blocked",
  "context-window",
  "continuation",
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

/** The definitions of the tools that a fixture calls. */
function toolsOf(fixture: string): JsonObject {
  const names = (WRITTEN.get(fixture)?.content.tools ?? []).map(({ name }) =>
    name
  );
  return names.length === 0 ? {} : toolsFor("chat", [...new Set(names)]);
}

/** Both forms of a reply, with the members that request them. */
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
      calls(2 * askedLive(forms) * profile.chat.length, 64)(profile),
    async play(session) {
      const asked = forms.filter(({ words }) =>
        session.mode === "replay" || words !== undefined
      );
      for (const route of session.routes("chat")) {
        await Promise.all(
          asked.flatMap(({ fixture, words = "Answer.", more }) =>
            HOW.map(([how, asStream]) =>
              session.send(plainRequest(
                "chat",
                route,
                `${how}/${fixture}`,
                session.prompt(fixture, words),
                { ...toolsOf(fixture), ...more, ...asStream },
              ))
            )
          ),
        );
      }
    },
  };
}

/** Ways to request a stream without usage. */
const UNASKED: Readonly<Record<string, JsonObject>> = {
  "stream-absent": { stream: true },
  "stream-false": { stream: true, stream_options: { include_usage: false } },
};

const UNASKED_USAGE = eachForm(
  {
    name: CHAT_USAGE_UNASKED,
    about: "Streams of the chat endpoint, requested without usage",
  },
  "chat",
  UNASKED,
);

/** Streams that the upstream breaks off. */
export const CHAT_BREAKS = [
  "error-mid",
  "error-event",
  "cut",
  "cut-chunk",
  "cut-frame",
  "reset",
] as const;

/** Streams that fail before any content. */
export const CHAT_FALSE_STARTS = ["error-first", "empty-200"] as const;

const BROKEN = failingStreams(
  {
    name: CHAT_BROKEN,
    about: "Streams of the chat endpoint that fail at once or in the middle",
  },
  "chat",
  [...CHAT_BREAKS, ...CHAT_FALSE_STARTS],
);

const STREAM_FALSE = eachForm(
  {
    name: "chat-stream-false",
    about: "Replies of the chat endpoint, requested with stream false",
  },
  "chat",
  { whole: { stream: false } },
);

export const CHAT_REPLY_SCENARIOS: readonly Scenario[] = [
  scenario(
    CHAT_FORMS,
    "A truncated reply and parallel tool calls on the chat endpoint",
    "both",
    FORMS,
  ),
  scenario(
    CHAT_CONTENTS,
    "Many scripts, stop strings, thinking, a filter and cached input on the chat endpoint",
    "replay",
    CONTENTS,
  ),
  scenario(
    CHAT_ODDITIES,
    "Rare and unusually encoded replies on the chat endpoint",
    "replay",
    ODDITIES,
  ),
  scenario(
    CHAT_SIZES,
    "200 deltas and a frame of 256 KiB on the chat endpoint",
    "replay",
    SIZES,
  ),
  UNASKED_USAGE,
  STREAM_FALSE,
  BROKEN,
];
