/** Scenarios of the message endpoint: each form that a reply can take, whole and streamed, on every route. */
import { WRITTEN } from "../fixtures/mod.ts";
import type { JsonObject } from "../replay/json.ts";
import { plainAsk, toolsFor } from "../suite/asks.ts";
import type { Lab } from "../suite/lab.ts";
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

/** Replies that vendors give seldom, or tell in a way of their own. */
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

/** The tools that a fixture calls, on offer. */
function toolsOf(fixture: string): JsonObject {
  const names = (WRITTEN.get(fixture)?.says.tools ?? []).map(({ name }) =>
    name
  );
  return names.length === 0 ? {} : toolsFor("messages", [...new Set(names)]);
}

/** Asks for every form on every route; labels are `messages/ROUTE/whole/FIXTURE` or `messages/ROUTE/stream/FIXTURE`. */
async function askFor(
  lab: Lab,
  how: "whole" | "stream",
  forms: readonly Form[],
): Promise<void> {
  const asked = forms.filter(({ words }) =>
    lab.mode === "replay" || words !== undefined
  );
  for (const route of lab.routes("messages")) {
    await Promise.all(
      asked.map(({ fixture, words = "Answer.", more }) =>
        lab.send(plainAsk(
          "messages",
          route,
          `${how}/${fixture}`,
          lab.prompt(fixture, words),
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

/** A scenario for whole replies and one for streams: a check reads what it needs. */
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
      calls(forms.length * profile.messages.length, 128)(profile),
    play: (lab) => askFor(lab, how, forms),
  }));
}

/** Streams that fail: the upstream's error first, after some text, and under a name of its own. */
const FAILURES = ["error-first", "error-mid", "error-finish", "error-event"];

const FAILED: Scenario = {
  name: "message-failures",
  about: "Streams of the message endpoint that the upstream ends with an error",
  mode: "replay",
  cost: ({ messages }) => ({
    requests: FAILURES.length * messages.length,
    inputTokens: 0,
    outputTokens: 0,
  }),
  async play(lab) {
    for (const route of lab.routes("messages")) {
      await Promise.all(FAILURES.map((fixture) =>
        lab.send(plainAsk(
          "messages",
          route,
          fixture,
          lab.prompt(fixture, "Say hello."),
          { stream: true },
        ))
      ));
    }
  },
};

const STREAM_FALSE: Scenario = {
  name: "message-stream-false",
  about: "Replies of the message endpoint with stream told as false",
  mode: "both",
  cost: (profile) => calls(profile.messages.length, 64)(profile),
  async play(lab) {
    await Promise.all(
      lab.routes("messages").map((route) =>
        lab.send(plainAsk(
          "messages",
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
    "Rare replies and rare ways to tell them",
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
