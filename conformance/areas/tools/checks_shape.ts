/** Checks of the area `tools`: the fields of tool calls, whole and in fragments. */
import { block, delta, opening } from "../../faults/change_messages.ts";
import { changeParts } from "../../faults/change_hooks.ts";
import { factOf, some } from "../../suite/finding.ts";
import {
  callsAt,
  CHAT_SHAPES,
  every,
  faults,
  isName,
  REPLY,
  uncalled,
} from "./checks_shape_chat.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief, sameJson, textAt } from "../../evidence/json_path.ts";
import { toolCallsIn } from "../../evidence/tool_calls.ts";

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

const SHAPES: readonly Check[] = checksWith({
  section: REPLY,
  mode: "both",
  reads: ["tool-forced"],
}, [
  {
    id: "tools.message-block",
    rule: "Tool calls have `type` = `tool_use`.",
    replies: "messages/*/whole/*",
    each: (x, e) => {
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
    },
    faults: {
      "tool-message-type-function": block("tool_use", { type: "function" }),
    },
  },
  {
    id: "tools.message-block-members",
    source:
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
    rule: "A tool_use block has an id, a name and an input that is an object.",
    replies: "messages/*/whole/*",
    each: (x, e) => {
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
    },
    faults: {
      "tool-message-input-string": block("tool_use", (block) => ({
        ...block,
        input: JSON.stringify(block["input"]),
      })),
      "tool-message-id-empty": block("tool_use", { id: "" }),
      "tool-message-id-missing": block("tool_use", { id: undefined }),
      "tool-message-name-missing": block("tool_use", { name: undefined }),
      "tool-message-input-missing": block("tool_use", { input: undefined }),
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
      "tool-message-start-input-full": opening("tool_use", {
        input: { city: "" },
      }),
      "tool-message-delta-renamed": delta("input_json_delta", (delta) => ({
        type: "text_delta",
        text: textAt(delta, "partial_json"),
      })),
      "tool-message-partial-object": delta("input_json_delta", {
        partial_json: {},
      }),
      "tool-message-stream-id-missing": opening("tool_use", { id: undefined }),
      "tool-message-stream-name-missing": opening("tool_use", {
        name: undefined,
      }),
    },
  },
  ...CHAT_SHAPES,
  {
    id: "tools.ids-unique",
    source:
      "Both formats pair a result with its call by the id of the call alone",
    rule: "Every call of a reply has its own id.",
    judge: (e) =>
      [...e.replies("*/*/whole/*"), ...e.streams("*/*/stream/*")].map((x) => {
        const ids = toolCallsIn(x).map(({ id }) => id);
        if (ids.length === 0) return uncalled(e, x);
        return factOf("ids of the calls", brief(ids), x).mustBe(
          "present and unique",
          !ids.includes("") &&
            new Set(ids).size === ids.length,
        );
      }),
    faults: {
      "tool-ids-equal": changeParts(
        "tool",
        (part) => ({ ...part, id: "call_1" }),
      ),
      ...sharedFaults("tool-message-id-empty", "tool-chat-id-missing"),
    },
  },
]);

/**
 * Part of `TOOLS_CHECKS`: each rule once on forced calls of any model, and once on the calls of
 * fixtures.
 */
export const TOOL_SHAPE_CHECKS: readonly Check[] = [
  ...checksWith({}, [{
    id: "tools.ids-made-unique",
    source: "Two calls with one id cannot be distinguished by their results",
    rule:
      "Calls to which an upstream of another format gave one id have different ones.",
    level: "contract",
    mode: "replay",
    reads: ["tool-same-ids"],
    judge: (e) =>
      some(
        // Replies in the upstream's own format stay as they are.
        e.streams("*/*/stream/same-ids").filter(({ endpoint, via }) =>
          via !== (endpoint === "chat" ? "chat_completions" : endpoint)
        ).map((x) => {
          const ids = toolCallsIn(x).map(({ id }) => id);
          return factOf("ids of the calls", brief(ids), x).mustBe(
            "two different ones",
            ids.length === 2 && new Set(ids).size === 2,
          );
        }),
        "a reply of an upstream of another format",
      ),
    faults: { ...sharedFaults("tool-ids-equal") },
  }]),
  ...SHAPES.flatMap((shape): readonly Check[] => {
    // Two calls in one reply show it, which only fixtures have.
    const { "tool-ids-equal": _, ...faults } = shape.faults;
    return [{ ...shape, faults }, {
      ...shape,
      id: `${shape.id}-of-fixtures`,
      mode: "replay",
      reads: ["tool-calls"],
    }];
  }),
];
