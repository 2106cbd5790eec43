/** Checks of the area `tools`: tool calls in replies. */
import { ANSWER_SCHEMA_CHECKS } from "./checks_answer_schema.ts";
import { block, delta } from "../../faults/change_messages.ts";
import { changeParts } from "../../faults/change_hooks.ts";
import { chatFrames, messageReply, withAt } from "../../faults/change_reply.ts";
import { compare, fact, factOf, type Finding } from "../../suite/finding.ts";
import {
  ENDED,
  FINE,
  FINISH,
  FORCED_CHECKS,
  repliesOf,
} from "./checks_forced.ts";
import { DELTA, own } from "../equivalence/faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import {
  ARGS,
  args,
  chatCall,
  chatCalls,
  chatDelta,
  FINISH as faultFINISH,
  first,
  once,
  stops,
} from "./faults.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, listAt, sameJson, textAt } from "../../evidence/json_path.ts";
import { stopCauseIn, toolCallsIn } from "../../evidence/tool_calls.ts";
import type { Json } from "@model-gateway/replay/json";
import { type Evidence, outcome } from "../../suite/evidence.ts";
import { fixtureOf } from "../../endpoints/read_chat.ts";
import { TOOL_SHAPE_CHECKS } from "./checks_shape.ts";
import { TOOL_HISTORY_CHECKS } from "./checks_history.ts";
import { TOOL_REQUEST_CHECKS } from "./checks_upstream.ts";

const FUNCTIONS =
  "https://platform.openai.com/docs/guides/function-calling, handling function calls";

function exact(x: Exchange): Finding {
  const expected: Json = fixtureContent(fixtureOf(x), x.via).tools.map((
    { name, args },
  ): Json => ({ name, args }));
  const found: Json = toolCallsIn(x).map(({ name, args }): Json => ({
    name,
    args: args ?? null,
  }));
  return compare("tool calls", found, expected, x);
}

/** The types of a message's blocks, without thinking. */
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

/** Replies with the calls of a fixture have the stop cause of a call. */
function stopped(e: Evidence, endpoint: string, expected: string): Finding[] {
  return repliesOf(e, endpoint).map((x) => {
    const found = stopCauseIn(x);
    return fact(found === expected, "stop cause", expected, found, x);
  });
}

export const TOOLS_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["tool-calls"],
}, [
  {
    id: "tools.message-exact",
    source:
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
    rule: "Name and input of a call are those of the model.",
    judge: (e) => repliesOf(e, "messages").map(exact),
    faults: {
      "tool-message-input-lost": block("tool_use", { input: {} }),
      "tool-message-second-lost": block(
        "tool_use",
        (block, index) => index > 0 ? undefined : block,
      ),
      "tool-message-fragment-lost": delta(
        "input_json_delta",
        (delta) =>
          textAt(delta, "partial_json").endsWith("}") ? undefined : delta,
      ),
      "tool-args-value-changed": args((text) =>
        text.replace("o", "0").replace("a", "e")
      ),
    },
  },
  {
    id: "tools.chat-exact",
    source: FUNCTIONS,
    rule:
      "Each call has the function's name and its arguments, JSON in a string; in a stream the fragments of one index are joined.",
    judge: (e) => repliesOf(e, "chat").map(exact),
    faults: {
      "tool-chat-second-lost": chatCalls((calls) => calls.slice(0, 1)),
      "tool-chat-swapped": chatCalls((calls) => calls.toReversed()),
      "tool-chat-fragment-lost": chatDelta((delta, x) =>
        first(delta) || !once(x) ? delta : undefined
      ),
      "tool-chat-fragment-twice": chatDelta((delta) =>
        withAt(delta, ARGS, textAt(delta, ARGS).repeat(2))
      ),
      "tool-chat-index-0": chatDelta({ index: 0 }),
      "tool-chat-args-empty-for-none": chatCall((call) =>
        textAt(call, ARGS) === "{}" ? withAt(call, ARGS, "") : call
      ),
      ...sharedFaults(
        "tool-chat-args-lost",
        "tool-chat-name-each",
        "tool-args-value-changed",
        "tool-chat-args-twice-encoded",
        "tool-chat-function_call",
      ),
    },
  },
  {
    id: "tools.exact-odd-upstreams",
    source:
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
    rule: "Name and input of a call are those of the model.",
    reads: ["tool-oddities"],
    judge: (e) => repliesOf(e, "*").map(exact),
    faults: {
      "tool-args-lost-in-own-dialect": chatFrames((data, x) =>
        own(x) &&
          listAt(data, `${DELTA}.tool_calls`).some((call) =>
            textAt(call, "function.arguments") !== ""
          )
          ? undefined
          : data
      ),
      "tool-args-latin1": args((text) =>
        [...new TextEncoder().encode(text)].map((byte) =>
          byte < 128 ? String.fromCharCode(byte) : `\\u00${byte.toString(16)}`
        ).join("")
      ),
      // Fragments of overlapping calls go to the call that began last.
      "tool-args-interleaved-mixed": {
        part: (part, { state }) => {
          if (part.type === "tool") state.set("call", part.call);
          return part.type === "args"
            ? [{ ...part, call: Number(state.get("call") ?? 0) }]
            : [part];
        },
      },
      ...sharedFaults("tool-args-value-changed"),
    },
  },
  {
    id: "tools.exact-big",
    source:
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
    rule: "Name and input of a call are those of the model.",
    reads: ["tool-sizes"],
    judge: (e) => repliesOf(e, "*").map(exact),
    faults: {
      // Arguments are truncated to 32 KiB.
      "tool-args-capped": args((text, { state }) => {
        const room = 32768 - Number(state.get("length") ?? 0);
        state.set("length", Number(state.get("length") ?? 0) + text.length);
        return text.slice(0, Math.max(0, room));
      }),
    },
  },
  {
    id: "tools.stop",
    rule: ENDED,
    level: "documented",
    judge: (e) => stopped(e, "messages", "tool_use"),
    faults: {
      "tool-stop-of-messages-lost": stops(
        "messages",
        "stop_reason",
        "end_turn",
        false,
      ),
      "tool-stop-of-messages-stream-lost": stops(
        "messages",
        "delta.stop_reason",
        "end_turn",
        true,
      ),
    },
  },
  {
    id: "tools.chat-stop",
    rule: FINISH,
    level: "convention",
    judge: (e) => stopped(e, "chat", "tool_calls"),
    faults: {
      "tool-stop-of-chat-lost": stops("chat", faultFINISH, "stop", false),
      "tool-stop-of-chat-stream-lost": stops("chat", faultFINISH, "stop", true),
    },
  },
  {
    id: "tools.stop-odd-upstreams",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, choices[].finish_reason",
    rule:
      "A reply that ends with calls has the stop cause of a call: `tool_use` or `tool_calls`.",
    reads: ["tool-oddities"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        const expected = x.endpoint === "chat" ? "tool_calls" : "tool_use";
        const found = stopCauseIn(x);
        return fact(found === expected, "stop cause", expected, found, x);
      }),
    faults: sharedFaults(
      "tool-stop-of-chat-lost",
      "tool-stop-of-messages-stream-lost",
    ),
  },
  {
    id: "tools.text-beside-calls",
    source: "https://github.com/maximhq/bifrost/issues/3638",
    rule: "Text beside a call is kept, and contains nothing of the call.",
    reads: ["tool-oddities"],
    judge: (e) =>
      repliesOf(e, "*").map((x) => {
        const expected = fixtureContent(fixtureOf(x), x.via).text;
        const found = textOf(x);
        return fact(found === expected, "text", expected, found, x);
      }),
    faults: {
      "tool-text-before-lost": {
        part: (part, { state }) => {
          if (part.type === "tool") state.set("called", true);
          return part.type === "text" && !state.has("called") ? [] : [part];
        },
      },
      "tool-args-as-text": changeParts(
        "args",
        (part) => [{ type: "text", text: part.text }, part],
      ),
    },
  },
  {
    id: "tools.beside-a-schema",
    source:
      "https://platform.openai.com/docs/guides/structured-outputs, beside function calling",
    rule:
      "A schema for texts changes nothing of a reply with a call: its text, its call and its stop cause are those of the model.",
    reads: ["tool-schema"],
    // A gateway may refuse a schema that a model does not take.
    judge: (e) =>
      e.matching("*/*/*/tool-text").flatMap((x) => {
        if (x.head?.status !== 200) {
          return [factOf("reply", outcome(x), x).mustBe("any", true)];
        }
        const expected = fixtureContent(fixtureOf(x), x.via).text;
        const cause = x.endpoint === "chat" ? "tool_calls" : "tool_use";
        return [
          compare("text", textOf(x), expected, x),
          compare("stop cause", stopCauseIn(x), cause, x),
          exact(x),
        ];
      }),
    faults: {
      "tool-text-lost-beside-a-schema": {
        part: (part, { request }) =>
          part.type === "text" && request.body.includes("json_schema")
            ? []
            : [part],
      },
      "tool-call-as-text-in-a-schema": changeParts(
        "tool",
        (part, { request }) =>
          request.body.includes("json_schema")
            ? [{ type: "text", text: part.name }]
            : [part],
      ),
    },
  },
  {
    id: "tools.blocks-in-order",
    source: `${FINE}, the order of content blocks`,
    rule: "Text that precedes a call comes before it in the reply.",
    reads: ["tool-oddities"],
    judge: (e) =>
      [
        ...e.replies("messages/*/whole/tool-text"),
        ...e.streams("messages/*/stream/tool-text"),
      ].map((x) => {
        const found = kinds(x);
        return factOf("blocks", found, x).mustBe(
          "text, tool_use",
          sameJson(found, ["text", "tool_use"]),
        );
      }),
    faults: {
      "tool-blocks-turned": messageReply((body) => ({
        ...body,
        content: listAt(body, "content").toReversed(),
      })),
    },
  },
  ...ANSWER_SCHEMA_CHECKS,
  ...FORCED_CHECKS,
  ...TOOL_SHAPE_CHECKS,
  ...TOOL_REQUEST_CHECKS,
  ...TOOL_HISTORY_CHECKS,
]);
