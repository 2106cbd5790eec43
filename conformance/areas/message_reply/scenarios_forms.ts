/** Scenarios of the message endpoint: each kind of reply, whole and streamed, on every route. */
import type { Scenario } from "../../suite/scenario.ts";
import {
  fixtureReplies,
  played,
  type WantedFixture,
} from "../../suite/fixture_replies.ts";
import { eachForm, failingStreams } from "../../suite/one_request.ts";

export const MESSAGE_FORMS_WHOLE = "message-forms-whole";
export const MESSAGE_FORMS_STREAM = "message-forms-stream";
export const MESSAGE_FAILURES = "message-failures";

const FORMS: readonly WantedFixture[] = [
  {
    fixture: "max-tokens",
    words: "Count from one to five hundred in words.",
    more: { max_tokens: 16 },
  },
  {
    fixture: "stop-sequence",
    words: "Write exactly this line: alpha beta gamma END delta",
    more: { stop_sequences: ["END"] },
  },
  {
    fixture: "tool",
    words: "What is the weather in Paris?",
    more: {
      max_tokens: 128,
      tool_choice: { type: "tool", name: "get_weather" },
    },
  },
  { fixture: "text-tool-text" },
];

const BLOCKS: readonly WantedFixture[] = played(
  "tool-no-args",
  "tool-parallel",
  "thinking-tool",
  "redacted-thinking",
);

/** Replies that vendors send rarely, or encode unusually. */
const ODDITIES: readonly WantedFixture[] = played(
  "text-unicode",
  "empty",
  "tool-text",
  "tool-interleaved",
  "tool-unicode-args",
  "tool-whole",
  "thinking",
  "refusal",
  "content-filter",
  "blocked",
  "context-window",
  "continuation",
  "pause-turn",
  "unknown-event",
  "citations",
  "server-tool",
  "stop-with-tools",
  "cache-usage",
  "reasoning-usage",
  "usage-late",
  "usage-on-finish",
  "role-repeated",
  "first-frame-empty",
  "finish-every-frame",
  "text-blanks",
  "tool-odd-args",
  "tool-many",
);

const SIZES: readonly WantedFixture[] = played(
  "text-long",
  "tool-big-args",
  "big-frame",
);

/** A scenario for whole replies and one for streams, so that a check reads only what it needs. */
function scenarios(
  name: string,
  about: string,
  mode: Scenario["mode"],
  wanted: readonly WantedFixture[],
): Scenario[] {
  return (["whole", "stream"] as const).map((how) =>
    fixtureReplies(
      {
        name: `${name}-${how}`,
        about: `${about} on the message endpoint, ${
          how === "whole" ? "whole" : "streamed"
        }`,
        mode,
      },
      "messages",
      wanted,
      [how],
    )
  );
}

/**
 * Streams that fail: with the upstream's error first, after some text, and under an event name of
 * its own.
 */
const FAILURES = ["error-first", "error-mid", "error-finish", "error-event"];

const FAILED = failingStreams(
  {
    name: MESSAGE_FAILURES,
    about:
      "Streams of the message endpoint that the upstream ends with an error",
  },
  "messages",
  FAILURES,
);

const STREAM_FALSE = eachForm(
  {
    name: "message-stream-false",
    about: "Replies of the message endpoint, requested with stream false",
  },
  "messages",
  { whole: { stream: false } },
);

export const MESSAGE_FORM_SCENARIOS: readonly Scenario[] = [
  STREAM_FALSE,
  ...scenarios(
    "message-forms",
    "A limit, a stop string and tool calls",
    "both",
    FORMS,
  ),
  ...scenarios(
    "message-blocks",
    "Several calls, calls without arguments, and thinking",
    "replay",
    BLOCKS,
  ),
  ...scenarios(
    "message-oddities",
    "Rare and unusually encoded replies",
    "replay",
    ODDITIES,
  ),
  ...scenarios(
    "message-sizes",
    "200 deltas, 64 KiB of arguments and a frame of 256 KiB",
    "replay",
    SIZES,
  ),
  FAILED,
];
