/** Checks of the area `tools`: the fields of tool calls, whole and in fragments. */
import {
  isObject,
  type Json,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { wholeReply, withAt } from "../../reference_gateway/change_reply.ts";
import {
  ARGS,
  CALLS,
  chatCall,
  chatDelta,
  first,
  messageBlock,
  messageDelta,
  messageStart,
  without,
} from "./faults.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { stopCauseIn, toolCallsIn } from "../../evidence/tool_calls.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { demanded, fact, type Finding } from "../../suite/finding.ts";

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";

/** True for a non-empty string. */
function isName(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}

function callsAt(x: Exchange, path: string): readonly Json[] {
  return listAt(x.json, path);
}

/** One finding for a list: the first wrong entry, or a pass. */
function every(
  x: Exchange,
  what: string,
  expected: string,
  entries: readonly Json[],
  holds: (entry: Json) => boolean,
): Finding {
  const bad = entries.find((entry) => !holds(entry));
  return fact(bad === undefined, what, expected, bad ?? "so", x);
}

/**
 * The first mistake in the fragments of the calls of a chat stream; undefined when there is none.
 */
function fragmentFault(x: Exchange): { at: number; why: string } | undefined {
  const begun: number[] = [];
  for (const frame of x.frames) {
    const deltas = at(frame.json, "choices.0.delta.tool_calls") ?? [];
    const wrong = (why: string) => ({ at: frame.at, why });
    if (!Array.isArray(deltas)) return wrong("tool_calls is an array");
    for (const delta of listAt(deltas, "")) {
      const index = at(delta, "index");
      const args = at(delta, "function.arguments");
      if (typeof index !== "number") return wrong("an integer index");
      if (args !== undefined && args !== null && typeof args !== "string") {
        return wrong("arguments are a string");
      }
      if (begun.includes(index)) {
        if (isName(at(delta, "id")) || isName(at(delta, "function.name"))) {
          return wrong("id and name only in the first fragment of an index");
        }
        continue;
      }
      if (index !== begun.length) return wrong(`index ${begun.length}`);
      begun.push(index);
      if (!isName(at(delta, "id"))) return wrong("an id in the first fragment");
      if (at(delta, "type") !== "function") {
        return wrong("type function in the first fragment");
      }
      if (!isName(at(delta, "function.name"))) {
        return wrong("a name in the first fragment");
      }
    }
  }
  return begun.length > 0 ? undefined : { at: 0, why: "a tool call" };
}

/**
 * The first mistake in the events of the calls of a message stream; undefined when there is none.
 */
function eventFault(x: Exchange): { at: number; why: string } | undefined {
  const open = new Map<Json, string>();
  let begun = 0;
  for (const { at: number, json } of x.frames) {
    const index = at(json, "index") ?? null;
    const block = at(json, "content_block");
    const wrong = (why: string) => ({ at: number, why });
    if (at(block, "type") === "tool_use") {
      begun++;
      open.set(index, "");
      if (!isName(at(block, "id"))) return wrong("an id");
      if (!isName(at(block, "name"))) return wrong("a name");
      if (!sameJson(at(block, "input"), {})) return wrong("input {}");
    }
    const kind = textAt(json, "delta.type");
    const joined = open.get(index);
    if (kind !== "" && joined !== undefined) {
      const partial = at(json, "delta.partial_json");
      if (kind !== "input_json_delta" || typeof partial !== "string") {
        return wrong("input_json_delta with a partial_json string");
      }
      open.set(index, joined + partial);
    }
    if (at(json, "type") === "content_block_stop" && joined !== undefined) {
      open.delete(index);
      if (joined !== "" && !isObject(parseJson(joined))) {
        return wrong("joined partial_json is a JSON object");
      }
    }
  }
  if (open.size > 0) return { at: x.frames.length - 1, why: "blocks stopped" };
  return begun > 0 ? undefined : { at: 0, why: "a tool_use block" };
}

/** The finding about a reply without the forced call. */
function uncalled(e: Evidence, x: Exchange): Finding {
  // The reply reports a call as its stop cause: the gateway lost the call.
  const lost = ["tool_use", "tool_calls"].includes(stopCauseIn(x));
  const judged = lost ? fact : demanded(e);
  const calls = toolCallsIn(x);
  return judged(calls.length > 0, "tool calls", "one or more", brief(calls), x);
}

function faults(
  e: Evidence,
  exchanges: readonly Exchange[],
  what: string,
  faultOf: (x: Exchange) => { at: number; why: string } | undefined,
): Finding[] {
  return exchanges.map((x) => {
    if (toolCallsIn(x).length === 0) return uncalled(e, x);
    const fault = faultOf(x);
    return fault === undefined
      ? fact(true, what, "in order", "in order", x)
      : fact(
        false,
        `frame ${fault.at} ${what}`,
        fault.why,
        x.frames[fault.at]?.data,
        x,
        fault.at,
      );
  });
}

const SHAPES: readonly Check[] = checksWith({
  section: REPLY,
  mode: "both",
  reads: ["tool-forced"],
}, [
  {
    id: "tools.message-block",
    rule: "Tool calls have `type` = `tool_use`.",
    judge: (e) =>
      e.replies("messages/*/whole/*").flatMap((x) => {
        const blocks = callsAt(x, "content").filter((block) =>
          at(block, "type") !== "text" && at(block, "type") !== "thinking"
        );
        if (blocks.length === 0) return [uncalled(e, x)];
        return [
          every(
            x,
            "tool_use blocks",
            "type tool_use",
            blocks,
            (block) => at(block, "type") === "tool_use",
          ),
        ];
      }),
    faults: {
      "tool-message-type-function": messageBlock((block) => ({
        ...block,
        type: "function",
      })),
    },
  },
  {
    id: "tools.message-block-members",
    source:
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
    rule: "A tool_use block has an id, a name and an input that is an object.",
    judge: (e) =>
      e.replies("messages/*/whole/*").flatMap((x) => {
        const blocks = callsAt(x, "content").filter((block) =>
          at(block, "type") === "tool_use"
        );
        if (blocks.length === 0) return [uncalled(e, x)];
        return [
          every(
            x,
            "tool_use blocks",
            "id, name, and input that is an object",
            blocks,
            (block) =>
              isName(at(block, "id")) && isName(at(block, "name")) &&
              isObject(at(block, "input")),
          ),
        ];
      }),
    faults: {
      "tool-message-input-string": messageBlock((block) => ({
        ...block,
        input: JSON.stringify(block["input"]),
      })),
      "tool-message-id-empty": messageBlock((block) => ({ ...block, id: "" })),
      "tool-message-id-missing": messageBlock((block) => without(block, "id")),
      "tool-message-name-missing": messageBlock((block) =>
        without(block, "name")
      ),
      "tool-message-input-missing": messageBlock((block) =>
        without(block, "input")
      ),
    },
  },
  {
    id: "tools.message-events",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, input JSON delta",
    rule:
      "A tool_use block starts with id, name and an empty input; its deltas are input_json_delta, whose strings, joined, are the input.",
    judge: (e) =>
      faults(e, e.streams("messages/*/stream/*"), "tool events", eventFault),
    faults: {
      "tool-message-start-input-full": messageStart((block) => ({
        ...block,
        input: { city: "" },
      })),
      "tool-message-delta-renamed": messageDelta((delta) => ({
        type: "text_delta",
        text: textAt(delta, "partial_json"),
      })),
      "tool-message-partial-object": messageDelta((delta) => ({
        ...delta,
        partial_json: {},
      })),
      "tool-message-stream-id-missing": messageStart((block) =>
        without(block, "id")
      ),
      "tool-message-stream-name-missing": messageStart((block) =>
        without(block, "name")
      ),
    },
  },
  {
    id: "tools.chat-call",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, message.tool_calls",
    rule:
      "Each tool call has an id, type function, and function with name and arguments; the arguments are JSON in a string.",
    judge: (e) =>
      e.replies("chat/*/whole/*").flatMap((x) => {
        const calls = callsAt(x, "choices.0.message.tool_calls");
        if (calls.length === 0) return [uncalled(e, x)];
        return [
          every(
            x,
            "tool_calls",
            "id, type function, name, and arguments: an object as a string",
            calls,
            (call) =>
              isName(at(call, "id")) && at(call, "type") === "function" &&
              isName(at(call, "function.name")) &&
              isObject(parseJson(textAt(call, "function.arguments"))),
          ),
        ];
      }),
    faults: {
      "tool-chat-arguments-object": chatCall((call) =>
        withAt(call, ARGS, JSON.parse(textAt(call, ARGS)))
      ),
      "tool-chat-id-empty": chatCall((call) => ({ ...call, id: "" })),
      "tool-chat-type-tool_use": chatCall((call) => ({
        ...call,
        type: "tool_use",
      })),
      "tool-chat-name-beside": chatCall((call) => ({
        id: call["id"],
        type: "function",
        ...objectOf(call["function"]),
      })),
      "tool-chat-function_call": wholeReply("chat", (body) =>
        withAt(
          withAt(
            body,
            "choices.0.message.function_call",
            at(body, `${CALLS}.0.function`),
          ),
          CALLS,
          undefined,
        )),
      "tool-chat-args-twice-encoded": chatCall((call) =>
        withAt(call, ARGS, JSON.stringify(textAt(call, ARGS)))
      ),
      "tool-chat-id-missing": chatCall((call) => without(call, "id")),
      "tool-chat-type-missing": chatCall((call) => without(call, "type")),
      ...shared("tool-chat-args-lost"),
    },
  },
  {
    id: "tools.chat-fragments",
    source:
      "https://github.com/openai/openai-node, lib/ChatCompletionStream: fragments are joined by index",
    rule:
      "Indexes count from 0; the first fragment of an index has id, type and name, later ones only arguments, all strings.",
    judge: (e) =>
      faults(e, e.streams("chat/*/stream/*"), "tool fragments", fragmentFault),
    faults: {
      "tool-chat-index-missing": chatDelta((delta) => without(delta, "index")),
      "tool-chat-index-1": chatDelta((delta) => ({
        ...delta,
        index: Number(delta["index"]) + 1,
      })),
      "tool-chat-index-text": chatDelta((delta) => ({
        ...delta,
        index: `${delta["index"]}`,
      })),
      "tool-chat-id-each": chatDelta((delta) => ({
        ...delta,
        id: crypto.randomUUID(),
      })),
      // Each fragment has the name.
      "tool-chat-name-each": chatDelta((delta, { state }) => {
        if (first(delta)) state.set("name", at(delta, "function.name") ?? "");
        return withAt(delta, "function.name", state.get("name"));
      }),
      "tool-chat-stream-id-missing": chatDelta((delta) => without(delta, "id")),
      "tool-chat-stream-type-missing": chatDelta((delta) =>
        without(delta, "type")
      ),
      // The name is sent after the first fragment.
      "tool-chat-stream-name-late": chatDelta((delta, { state }) => {
        const late = state.get("late");
        state.delete("late");
        if (first(delta)) {
          state.set("late", at(delta, "function.name") ?? "");
          return withAt(delta, "function.name", undefined);
        }
        return late === undefined
          ? delta
          : withAt(delta, "function.name", late);
      }),
      "tool-chat-stream-arguments-object": chatDelta((delta) =>
        withAt(delta, ARGS, {})
      ),
    },
  },
  {
    id: "tools.ids-unique",
    source:
      "Both formats pair a result with its call by the id of the call alone",
    rule: "Every call of a reply has its own id.",
    judge: (e) =>
      [...e.replies("*/*/whole/*"), ...e.streams("*/*/stream/*")].map((x) => {
        const ids = toolCallsIn(x).map(({ id }) => id);
        if (ids.length === 0) return uncalled(e, x);
        return fact(
          !ids.includes("") &&
            new Set(ids).size === ids.length,
          "ids of the calls",
          "present and unique",
          brief(ids),
          x,
        );
      }),
    faults: {
      "tool-ids-equal": {
        part: (part) =>
          part.type === "tool" ? [{ ...part, id: "call_1" }] : [part],
      },
      ...shared("tool-message-id-empty", "tool-chat-id-missing"),
    },
  },
  {
    id: "tools.chat-content-beside-calls",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, message.content",
    rule: "Beside calls the content is a string or null.",
    judge: (e) =>
      e.replies("chat/*/whole/*").map((x) => {
        const content = at(x.json, "choices.0.message.content");
        return fact(
          content === null || typeof content === "string",
          "choices.0.message.content",
          "a string or null",
          content,
          x,
        );
      }),
    faults: {
      "tool-chat-content-array": wholeReply(
        "chat",
        (body) => withAt(body, "choices.0.message.content", []),
      ),
      "tool-chat-content-missing": wholeReply(
        "chat",
        (body) => withAt(body, "choices.0.message.content", undefined),
      ),
    },
  },
]);

/**
 * Part of `TOOLS_CHECKS`: each rule once on forced calls of any model, and once on the calls of
 * fixtures.
 */
export const TOOL_SHAPE_CHECKS: readonly Check[] = SHAPES.flatMap((shape) => {
  // Two calls in one reply show it, which only fixtures have.
  const { "tool-ids-equal": _, ...faults } = shape.faults;
  return [{ ...shape, faults }, {
    ...shape,
    id: `${shape.id}-of-fixtures`,
    mode: "replay",
    reads: ["tool-calls"],
  }];
});
