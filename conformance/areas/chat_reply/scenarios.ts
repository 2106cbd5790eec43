/** Scenarios of the chat endpoint: each kind of reply, whole and streamed, on every route. */
import { EXTRA_SCENARIOS } from "../replies/scenarios_extras.ts";
import type { Scenario } from "../../suite/scenario.ts";
import {
  fixtureReplies,
  played,
  type WantedFixture,
} from "../../suite/fixture_replies.ts";
import { eachForm, failingStreams } from "../../suite/one_request.ts";
import type { JsonObject } from "@model-gateway/replay/json";

export const CHAT_BROKEN = "chat-broken";
export const CHAT_CONTENTS = "chat-contents";
export const CHAT_FORMS = "chat-forms";
export const CHAT_ODDITIES = "chat-oddities";
export const CHAT_SIZES = "chat-sizes";
export const CHAT_USAGE_UNASKED = "chat-usage-unasked";

/** The output limit that truncates a reply. */
export const CUT_AT = 16;

const FORMS: readonly WantedFixture[] = [
  {
    fixture: "max-tokens",
    words: "Count from one to five hundred in words.",
    more: { max_tokens: CUT_AT },
  },
  { fixture: "tool-parallel" },
];

/** Content and stop causes that differ from a plain answer. */
const CONTENTS: readonly WantedFixture[] = [
  { fixture: "stop-sequence", more: { stop: ["END"] } },
  ...played("text-unicode", "thinking", "content-filter", "cache-usage"),
];

/** Replies that vendors send rarely, or encode unusually. */
const ODDITIES: readonly WantedFixture[] = played(
  "empty",
  "redacted-thinking",
  "refusal",
  "blocked",
  "context-window",
  "continuation",
  "pause-turn",
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
);

const SIZES: readonly WantedFixture[] = played(
  "text-long",
  "big-frame",
);

function scenario(
  name: string,
  about: string,
  mode: Scenario["mode"],
  wanted: readonly WantedFixture[],
): Scenario {
  return fixtureReplies({ name, about, mode }, "chat", wanted);
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
  EXTRA_SCENARIOS.chat,
  UNASKED_USAGE,
  STREAM_FALSE,
  BROKEN,
];
