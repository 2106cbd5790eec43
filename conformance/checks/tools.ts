/** Checks of the area `tools`: tool calls in replies. */
import { fixtureSays } from "../evidence/content.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { at, brief, listAt, sameJson, textAt } from "../evidence/json_path.ts";
import { causeTold, toolCallsIn } from "../evidence/tool_calls.ts";
import type { Json } from "../replay/json.ts";
import { FORCED_TOOL } from "../scenarios/tools.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { demanded, fact, type Finding, skill } from "../suite/finding.ts";
import { fixtureOf } from "./chat_content.ts";
import { TOOL_SHAPE_CHECKS } from "./tools_shape.ts";
import { TOOL_HISTORY_CHECKS } from "./tools_history.ts";
import { TOOL_REQUEST_CHECKS } from "./tools_upstream.ts";

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";
const CALLS = "Tool calls have `type` = `tool_use`.";
const FUNCTIONS =
  "https://platform.openai.com/docs/guides/function-calling, handling function calls";
const FINE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";

/** Whole replies and streams of one endpoint, or of both. */
export function repliesOf(e: Evidence, endpoint: string): readonly Exchange[] {
  return [
    ...e.replies(`${endpoint}/*/whole/*`),
    ...e.streams(`${endpoint}/*/stream/*`),
  ];
}

function exact(x: Exchange): Finding {
  const said: Json = fixtureSays(fixtureOf(x), x.via).tools.map((
    { name, args },
  ): Json => ({ name, args }));
  const found: Json = toolCallsIn(x).map(({ name, args }): Json => ({
    name,
    args: args ?? null,
  }));
  return fact(sameJson(found, said), "tool calls", brief(said), found, x);
}

/** The kinds of the blocks that a message is made of, thinking left out. */
function kinds(x: Exchange): string[] {
  const blocks = x.frames.length === 0
    ? listAt(x.json, "content")
    : x.frames.flatMap(({ json }) => at(json, "content_block") ?? []);
  return blocks.map((block) => textAt(block, "type")).filter((type) =>
    !type.includes("thinking")
  );
}

function textOf(x: Exchange): string {
  const values = [x.json, ...x.frames.map(({ json }) => json)];
  if (x.endpoint === "chat") {
    return values.map((json) =>
      textAt(json, "choices.0.message.content") +
      textAt(json, "choices.0.delta.content")
    ).join("");
  }
  return values.map((json) =>
    listAt(json, "content").map((block) => textAt(block, "text")).join("") +
    textAt(json, "delta.text")
  ).join("");
}

/** The checks. */
export const TOOLS_CHECKS: readonly Check[] = [
  {
    id: "tools.message-exact",
    rule: { section: REPLY, text: CALLS },
    level: "documented",
    mode: "replay",
    reads: ["tool-calls"],
    judge: (e) => repliesOf(e, "messages").map(exact),
    mutants: [
      "tool-message-input-lost",
      "tool-message-second-lost",
      "tool-message-fragment-lost",
      "tool-args-value-changed",
    ],
  },
  {
    id: "tools.chat-exact",
    rule: {
      source: FUNCTIONS,
      text:
        "Each call has the function's name and its arguments, JSON in a string; in a stream the fragments of one index are joined.",
    },
    level: "convention",
    mode: "replay",
    reads: ["tool-calls"],
    judge: (e) => repliesOf(e, "chat").map(exact),
    mutants: [
      "tool-chat-args-lost",
      "tool-chat-second-lost",
      "tool-chat-swapped",
      "tool-chat-fragment-lost",
      "tool-chat-fragment-twice",
      "tool-chat-name-each",
      "tool-chat-index-0",
      "tool-args-value-changed",
      "tool-chat-args-empty-for-none",
      "tool-chat-args-twice-encoded",
      "tool-chat-function_call",
    ],
  },
  {
    id: "tools.exact-odd-upstreams",
    rule: { section: REPLY, text: CALLS },
    level: "documented",
    mode: "replay",
    reads: ["tool-oddities"],
    judge: (e) => repliesOf(e, "*").map(exact),
    mutants: [
      "tool-args-lost-in-own-dialect",
      "tool-args-value-changed",
      "tool-args-latin1",
      "tool-args-interleaved-mixed",
    ],
  },
  {
    id: "tools.exact-big",
    rule: { section: REPLY, text: CALLS },
    level: "documented",
    mode: "replay",
    reads: ["tool-sizes"],
    judge: (e) => repliesOf(e, "*").map(exact),
    mutants: ["tool-args-capped"],
  },
  {
    id: "tools.stop",
    rule: {
      section: REPLY,
      text:
        "| stop_reason | string | One of `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` |",
    },
    level: "documented",
    mode: "replay",
    reads: ["tool-calls"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        const expected = x.endpoint === "chat" ? "tool_calls" : "tool_use";
        const found = causeTold(x);
        return fact(found === expected, "stop cause", expected, found, x);
      }),
    mutants: [
      "tool-stop-of-chat-lost",
      "tool-stop-of-messages-lost",
      "tool-stop-of-chat-stream-lost",
      "tool-stop-of-messages-stream-lost",
    ],
  },
  {
    id: "tools.stop-odd-upstreams",
    rule: {
      section: "Equivalent fields between the two formats",
      text: "| Stop cause | `stop_reason` | `finish_reason` |",
    },
    level: "documented",
    mode: "replay",
    reads: ["tool-oddities"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        const expected = x.endpoint === "chat" ? "tool_calls" : "tool_use";
        const found = causeTold(x);
        return fact(found === expected, "stop cause", expected, found, x);
      }),
    mutants: ["tool-stop-of-chat-lost", "tool-stop-of-messages-stream-lost"],
  },
  {
    id: "tools.text-beside-calls",
    rule: {
      source: "https://github.com/maximhq/bifrost/issues/3638",
      text: "Text beside a call is kept, and nothing of the call is in it.",
    },
    level: "convention",
    mode: "replay",
    reads: ["tool-oddities"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        const said = fixtureSays(fixtureOf(x), x.via).text;
        const found = textOf(x);
        return fact(found === said, "text", said, found, x);
      }),
    mutants: ["tool-text-before-lost", "tool-args-as-text"],
  },
  {
    id: "tools.blocks-in-order",
    rule: {
      source: `${FINE}, the order of content blocks`,
      text: "Text that comes before a call stands before it.",
    },
    level: "convention",
    mode: "replay",
    reads: ["tool-oddities"],
    judge: (e) =>
      [
        ...e.replies("messages/*/whole/tool-text"),
        ...e.streams("messages/*/stream/tool-text"),
      ].map((x) => {
        const found = kinds(x);
        return fact(
          sameJson(found, ["text", "tool_use"]),
          "blocks",
          "text, tool_use",
          found,
          x,
        );
      }),
    mutants: ["tool-blocks-turned"],
  },
  {
    id: "tools.forced",
    rule: {
      source: `${FINE}, forcing tool use`,
      text: "A tool that is demanded by name is called, and no other.",
    },
    level: "convention",
    mode: "both",
    reads: ["tool-forced"],
    judge: (e) =>
      [
        ...e.replies("*/*/whole/named"),
        ...e.streams("*/*/stream/named"),
      ].map((x) => {
        const found = toolCallsIn(x).map(({ name }) => name);
        const judged = cutShort(x) ? skill : demanded(e);
        return judged(
          found.length > 0 && found.every((name) => name === FORCED_TOOL),
          "called tools",
          FORCED_TOOL,
          brief(found),
          x,
        );
      }),
    mutants: ["tool-choice-lost", "tool-choice-named-as-any"],
  },
  {
    id: "tools.forced-any",
    rule: {
      source: `${FINE}, forcing tool use`,
      text: "Where any tool is demanded, one is called.",
    },
    level: "convention",
    mode: "both",
    reads: ["tool-forced"],
    judge: (e) =>
      [
        ...e.replies("*/*/whole/any"),
        ...e.streams("*/*/stream/any"),
      ].map((x) => {
        const found = toolCallsIn(x);
        const judged = cutShort(x) ? skill : demanded(e);
        return judged(found.length > 0, "tool calls", "one", found, x);
      }),
    mutants: ["tool-choice-lost", "tool-choice-any-as-auto"],
  },
  {
    id: "tools.forced-stop",
    rule: {
      section: REPLY,
      text:
        "| stop_reason | string | One of `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` |",
    },
    level: "documented",
    mode: "both",
    reads: ["tool-forced"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        // A vendor of the chat format tells `stop` when the call was demanded by name.
        const named = x.label.endsWith("/named");
        const expected = x.endpoint === "messages"
          ? ["tool_use"]
          : named
          ? ["tool_calls", "stop"]
          : ["tool_calls"];
        const found = causeTold(x);
        const called = toolCallsIn(x).length > 0;
        const judged = cutShort(x) ? skill : called ? fact : demanded(e);
        return judged(
          expected.includes(found),
          "stop cause",
          expected.join(" or "),
          found,
          x,
        );
      }),
    mutants: [
      "tool-stop-of-messages-lost",
      "tool-stop-of-messages-stream-lost",
      "tool-stop-of-chat-lost",
    ],
  },
  ...TOOL_SHAPE_CHECKS,
  ...TOOL_REQUEST_CHECKS,
  ...TOOL_HISTORY_CHECKS,
];

/** True when the limit ended a reply: then the model may not have come to its call. */
function cutShort(x: Exchange): boolean {
  return ["length", "max_tokens"].includes(causeTold(x));
}
