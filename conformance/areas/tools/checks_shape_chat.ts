/** Checks of the area `tools`: the form of calls in replies of the chat endpoint. */
import { chatReply, withAt } from "../../faults/change_reply.ts";
import { demanded, fact, factOf, type Finding } from "../../suite/finding.ts";
import {
  isObject,
  type Json,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { ARGS, CALLS, chatCall, chatDelta, first } from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief, listAt, textAt } from "../../evidence/json_path.ts";
import { stopCauseIn, toolCallsIn } from "../../evidence/tool_calls.ts";
import type { Evidence } from "../../suite/evidence.ts";

export const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";

export function isName(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}

export function callsAt(x: Exchange, path: string): readonly Json[] {
  return listAt(x.json, path);
}

/** One finding for a list: the first wrong entry, or a pass. */
export function every(
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

/** The finding about a reply without the forced call. */
export function uncalled(e: Evidence, x: Exchange): Finding {
  // The reply reports a call as its stop cause: the gateway lost the call.
  const lost = ["tool_use", "tool_calls"].includes(stopCauseIn(x));
  const judged = lost ? fact : demanded(e);
  const calls = toolCallsIn(x);
  return judged(calls.length > 0, "tool calls", "one or more", brief(calls), x);
}

export function faults(
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
      : factOf(
        `frame ${fault.at} ${what}`,
        x.frames[fault.at]?.data,
        x,
        fault.at,
      ).mustBe(fault.why, false);
  });
}

export const CHAT_SHAPES: readonly Check[] = checksWith({
  section: REPLY,
  mode: "both",
  reads: ["tool-forced"],
}, [
  {
    id: "tools.chat-call",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, message.tool_calls",
    rule:
      "Each tool call has an id, type function, and function with name and arguments; the arguments are JSON in a string.",
    replies: "chat/*/whole/*",
    each: (x, e) => {
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
    },
    faults: {
      "tool-chat-arguments-object": chatCall((call) =>
        withAt(call, ARGS, JSON.parse(textAt(call, ARGS)))
      ),
      "tool-chat-id-empty": chatCall({ id: "" }),
      "tool-chat-type-tool_use": chatCall({ type: "tool_use" }),
      "tool-chat-name-beside": chatCall((call) => ({
        id: call["id"],
        type: "function",
        ...objectOf(call["function"]),
      })),
      "tool-chat-function_call": chatReply((body) =>
        withAt(
          withAt(
            body,
            "choices.0.message.function_call",
            at(body, `${CALLS}.0.function`),
          ),
          CALLS,
          undefined,
        )
      ),
      "tool-chat-args-twice-encoded": chatCall((call) =>
        withAt(call, ARGS, JSON.stringify(textAt(call, ARGS)))
      ),
      "tool-chat-id-missing": chatCall({ id: undefined }),
      "tool-chat-type-missing": chatCall({ type: undefined }),
      ...sharedFaults("tool-chat-args-lost"),
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
      "tool-chat-index-missing": chatDelta({ index: undefined }),
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
      "tool-chat-name-each": chatDelta((delta, { state }) => {
        if (first(delta)) state.set("name", at(delta, "function.name") ?? "");
        return withAt(delta, "function.name", state.get("name"));
      }),
      "tool-chat-stream-id-missing": chatDelta({ id: undefined }),
      "tool-chat-stream-type-missing": chatDelta({ type: undefined }),
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
    id: "tools.chat-content-beside-calls",
    source:
      "https://platform.openai.com/docs/api-reference/chat/object, message.content",
    rule: "Beside calls the content is a string or null.",
    replies: "chat/*/whole/*",
    each: (x) => {
      const content = at(x.json, "choices.0.message.content");
      return factOf("choices.0.message.content", content, x).mustBe(
        "a string or null",
        content === null || typeof content === "string",
      );
    },
    faults: {
      "tool-chat-content-array": chatReply((body) =>
        withAt(body, "choices.0.message.content", [])
      ),
      "tool-chat-content-missing": chatReply((body) =>
        withAt(body, "choices.0.message.content", undefined)
      ),
    },
  },
]);
