/** Scenarios of the message endpoint: each kind of reply, whole and streamed, on every route. */
import { eachForm, failingStreams } from "../../suite/one_request.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { JsonObject } from "@model-gateway/replay/json";
import { plainRequest, toolsFor } from "../../suite/requests.ts";
import type { Session } from "../../suite/session.ts";
import { calls, type Scenario } from "../../suite/scenario.ts";

// Names of scenarios that other areas read.
export const MESSAGE_FORMS_WHOLE = "message-forms-whole";
export const MESSAGE_FORMS_STREAM = "message-forms-stream";
export const MESSAGE_FAILURES = "message-failures";

/** A kind of reply to request. */
interface Form {
  /** Name of the fixture; the last part of the label. */
  readonly fixture: string;
  /** Prompt for a real model; absent when no prompt makes a real model reply like this. */
  readonly words?: string;
  /** Additional members of the body. */
  readonly more?: JsonObject;
}

const FORMS: readonly Form[] = [
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

const BLOCKS: readonly Form[] = [
  "tool-no-args",
  "tool-parallel",
  "thinking-tool",
  "redacted-thinking",
].map((fixture) => ({ fixture }));

/** Replies that vendors send rarely, or encode unusually. */
const ODDITIES: readonly Form[] = [
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
  "unknown-stop",
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
].map((fixture) => ({ fixture }));

const SIZES: readonly Form[] = ["text-long", "tool-big-args", "big-frame"]
  .map((fixture) => ({ fixture }));

/** The definitions of the tools that a fixture calls. */
function toolsOf(fixture: string): JsonObject {
  const names = (WRITTEN.get(fixture)?.content.tools ?? []).map(({ name }) =>
    name
  );
  return names.length === 0 ? {} : toolsFor("messages", [...new Set(names)]);
}

/**
 * Requests every form on every route; labels are `messages/ROUTE/whole/FIXTURE` or
 * `messages/ROUTE/stream/FIXTURE`.
 */
async function askFor(
  session: Session,
  how: "whole" | "stream",
  forms: readonly Form[],
): Promise<void> {
  const asked = forms.filter(({ words }) =>
    session.mode === "replay" || words !== undefined
  );
  for (const route of session.routes("messages")) {
    await Promise.all(
      asked.map(({ fixture, words = "Answer.", more }) =>
        session.send(plainRequest(
          "messages",
          route,
          `${how}/${fixture}`,
          session.prompt(fixture, words),
          {
            ...toolsOf(fixture),
            ...more,
            ...(how === "stream" ? { stream: true } : {}),
          },
        ))
      ),
    );
  }
}

/** A scenario for whole replies and one for streams, so that a check reads only what it needs. */
function scenarios(
  name: string,
  about: string,
  mode: Scenario["mode"],
  forms: readonly Form[],
): Scenario[] {
  return (["whole", "stream"] as const).map((how) => ({
    name: `${name}-${how}`,
    about: `${about} on the message endpoint, ${
      how === "whole" ? "whole" : "streamed"
    }`,
    mode,
    cost: (profile) =>
      calls(
        forms.filter(({ words }) => words !== undefined).length *
          profile.messages.length,
        128,
      )(profile),
    play: (session) => askFor(session, how, forms),
  }));
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
