/** Faults for the checks of the area `responses`. */
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { type Json, type JsonObject, objectOf } from "../../../replay/json.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";
import { asLatin1 } from "../../reference_gateway/change_messages.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import type { Context } from "../../reference_gateway/hooks.ts";
import {
  type Faults,
  frameOf,
  inFrames,
  inItems,
  inReply,
  put,
  without,
} from "./change.ts";
import { REQUEST_FAULTS } from "./faults_requests.ts";
import { REFUSAL_FAULTS } from "./faults_refusals.ts";

const isCall = (item: Json): boolean => textAt(item, "call_id") !== "";
const usage = (path: string, value: (usage: Json) => Json): ReturnType<
  typeof inReply
> =>
  inReply((reply) =>
    withAt(reply, `usage.${path}`, value(reply["usage"] ?? null))
  );
const count = (value: Json, path: string): number => numberAt(value, path) ?? 0;

const REPLY_FAULTS: Faults = {
  "responses-created-half": inReply((reply) => ({
    ...reply,
    created_at: count(reply, "created_at") + 0.5,
  })),
  "responses-null-absent": put("error", undefined),
  "responses-object-wrong": put("object", "chat.completion"),
  "responses-arguments-empty": inItems("function_call", (item) => ({
    ...item,
    arguments: "",
  })),
  "responses-summary-missing": inItems(
    "reasoning",
    ({ summary: _, ...item }) => item,
  ),
  "responses-text-part-chat": inItems("message", (item) => ({
    ...item,
    content: listAt(item, "content").map((part) => ({
      ...objectOf(part),
      type: "text",
    })),
  })),
  "responses-id-prefix": inItems("message", (item) => ({
    ...item,
    id: textAt(item, "id").replace("msg_", "item-"),
  })),
  "responses-instructions-not-echoed": put("instructions", null),
  "responses-metadata-lost": put("metadata", {}),
  "responses-strict-absent": inReply((reply) => ({
    ...reply,
    tools: listAt(reply, "tools").map((tool) => {
      const { strict: _, ...rest } = objectOf(tool);
      return rest;
    }),
  })),
  "responses-tools-not-echoed": put("tools", []),
  "responses-model-dated": inReply((reply) => ({
    ...reply,
    model: `${textAt(reply, "model")}-2026-04-01`,
  })),
  "responses-incomplete-unexplained": put("incomplete_details", {}),
  "responses-status-done": put("status", "done"),
  "responses-usage-null": put("usage", null),
  "responses-total-wrong": usage(
    "total_tokens",
    (value) => count(value, "input_tokens"),
  ),
  "responses-details-absent": usage("input_tokens_details", () => ({})),
  "responses-cached-outside": usage(
    "input_tokens_details.cached_tokens",
    (value) => count(value, "input_tokens") + 1,
  ),
  "responses-call-id-is-id": inItems("function_call", (item) => ({
    ...item,
    call_id: textAt(item, "id"),
  })),
  "responses-call-ids-equal": inItems("function_call", (item) => ({
    ...item,
    call_id: "call_1",
  })),
  "responses-empty-message": inReply((reply) => ({
    ...reply,
    output: [
      ...listAt(reply, "output"),
      {
        type: "message",
        id: "msg_empty",
        status: "completed",
        role: "assistant",
        content: [],
      },
    ],
  })),
  "responses-text-cut": inItems("message", (item) => ({
    ...item,
    content: listAt(item, "content").map((part) => ({
      ...objectOf(part),
      text: textAt(part, "text").slice(0, -1),
    })),
  })),
  "responses-refusal-as-text": {
    part: (part) =>
      part.type === "text" ? [{ type: "text", text: part.text }] : [part],
  },
  "responses-first-call-only": inReply((reply) => ({
    ...reply,
    output: listAt(reply, "output").filter((item, index, all) =>
      !isCall(item) || all.findIndex(isCall) === index
    ),
  })),
  "responses-arguments-latin1": inItems("function_call", (item) => ({
    ...item,
    arguments: asLatin1(textAt(item, "arguments")),
  })),
  "responses-always-completed": inReply((reply) => ({
    ...reply,
    status: "completed",
    incomplete_details: null,
  })),
  "responses-items-completed": inItems("message", (item) => ({
    ...item,
    status: "completed",
  })),
  "responses-items-in-progress": inItems("function_call", (item) => ({
    ...item,
    status: "in_progress",
  })),
  "responses-filter-is-limit": inReply((reply) =>
    textAt(reply, "incomplete_details.reason") === ""
      ? reply
      : withAt(reply, "incomplete_details.reason", "max_output_tokens")
  ),
  "responses-input-without-cache": usage(
    "input_tokens",
    (value) =>
      count(value, "input_tokens") -
      count(value, "input_tokens_details.cached_tokens"),
  ),
  "responses-output-plus-one": usage(
    "output_tokens",
    (value) => count(value, "output_tokens") + 1,
  ),
  "responses-reasoning-lost": {
    part: (part) =>
      part.type === "thinking" || part.type === "signature" ? [] : [part],
  },
  "responses-reasoning-as-text": {
    part: (part) =>
      part.type === "thinking" ? [{ type: "text", text: part.text }] : [part],
  },
};

const END = /^(completed|incomplete|failed)$/;

/** Number of a frame's kind within its stream. */
function nth({ state }: Context): number {
  const number = Number(state.get("nth") ?? 0);
  state.set("nth", number + 1);
  return number;
}

/** Inserts a frame behind `response.in_progress`. */
function inserted(data: JsonObject): ReturnType<typeof inFrames> {
  return inFrames(
    /^in_progress$/,
    (before) => [frameOf(before), frameOf(data)],
  );
}

const STREAM_FAULTS: Faults = {
  "responses-stream-no-created": without(/^created$/),
  "responses-stream-no-progress": without(/^in_progress$/),
  "responses-stream-starts-complete": inFrames(
    /^created$/,
    (data) => withAt(data, "response.status", "completed"),
  ),
  "responses-keepalive-first": inFrames(/^created$/, (data) => [
    frameOf({ type: "keepalive", sequence_number: 0 }),
    frameOf(data),
  ]),
  "responses-stream-no-end": without(END),
  "responses-stream-two-ends": inFrames(END, (data) => [
    frameOf(data),
    frameOf(data),
  ]),
  "responses-stream-after-end": inFrames(END, (data) => [
    frameOf(data),
    frameOf({ type: "keepalive", sequence_number: 0 }),
  ]),
  "responses-stream-end-bare": inFrames(END, (data) => {
    const { id: _, ...response } = objectOf(data["response"]);
    return { ...data, response };
  }),
  "responses-stream-no-event": inFrames(/./, (data) => [{ data }]),
  "responses-stream-event-short": inFrames(/./, (data) => [
    { event: textAt(data, "type").replace("response.", ""), data },
  ]),
  "responses-stream-numbers-from-1": inFrames(/./, (data) => ({
    ...data,
    sequence_number: count(data, "sequence_number") + 1,
  })),
  "responses-keepalive-unnumbered": inserted({ type: "keepalive" }),
  "responses-stream-number-twice": inFrames(END, (data) => ({
    ...data,
    sequence_number: count(data, "sequence_number") - 1,
  })),
  "responses-stream-own-type": inserted({ type: "gateway.trace" }),
  "responses-stream-reasoning-delta": inFrames(
    /^reasoning_summary_text\.delta$/,
    (data) => [frameOf({ ...data, type: "response.reasoning.delta" })],
  ),
  "responses-stream-no-added": without(/^output_item\.added$/),
  "responses-stream-no-part": without(/_part\.added$/),
  "responses-stream-no-text-done": without(/text\.done$/),
  "responses-stream-no-part-done": without(/_part\.done$/),
  "responses-stream-no-item-done": without(/^output_item\.done$/),
  "responses-stream-arguments-not-done": without(/arguments\.done$/),
  "responses-stream-call-nameless": inFrames(
    /^output_item\.added$/,
    (data) => withAt(data, "item.name", ""),
  ),
  "responses-stream-overlap": inFrames(
    /^(output_item\.(added|done)|completed|incomplete)$/,
    (data, { state }) => {
      const held = state.get("done");
      if (textAt(data, "type").endsWith("item.done")) {
        state.set("done", data);
        return undefined;
      }
      state.delete("done");
      if (held === undefined) return data;
      const isEnd = !textAt(data, "type").endsWith("added");
      const both = [frameOf(data), frameOf(objectOf(held))];
      return isEnd ? both.reverse() : both;
    },
  ),
  "responses-stream-index-0": inFrames(
    /./,
    (data) => "output_index" in data ? { ...data, output_index: 1 } : data,
  ),
  "responses-stream-content-index": inFrames(
    /./,
    (data) => "content_index" in data ? { ...data, content_index: 1 } : data,
  ),
  "responses-stream-item-id-rotates": inFrames(/\.delta$/, (data, x) => ({
    ...data,
    item_id: `${textAt(data, "item_id")}${nth(x)}`,
  })),
  "responses-stream-item-id-absent": inFrames(
    /\.delta$/,
    ({ item_id: _, ...data }) => data,
  ),
  "responses-stream-delta-lost": inFrames(
    /\.delta$/,
    (data, x) => nth(x) === 1 ? undefined : data,
  ),
  "responses-stream-done-cut": inFrames(/output_text\.done$/, (data) => ({
    ...data,
    text: textAt(data, "text").slice(0, -1),
  })),
  "responses-stream-arguments-at-once": without(/arguments\.delta$/),
  "responses-stream-item-empty": inFrames(
    /^output_item\.done$/,
    (data) =>
      at(data, "item.content") === undefined
        ? data
        : withAt(data, "item.content", []),
  ),
  "responses-stream-refusal-as-delta": inFrames(/^refusal\./, (data) => {
    const type = textAt(data, "type").replace("refusal", "output_text");
    return [frameOf({ ...data, type })];
  }),
  "responses-stream-arguments-blank": inFrames(
    /arguments\.done$/,
    (data) => data["arguments"] === "{}" ? { ...data, arguments: "" } : data,
  ),
  "responses-stream-empty-delta": inFrames(/output_text\.delta$/, (data) => [
    frameOf({ ...data, delta: "" }),
    frameOf(data),
  ]),
  "responses-stream-output-empty": inFrames(
    END,
    (data) => withAt(data, "response.output", []),
  ),
  "responses-stream-output-sorted": inFrames(
    END,
    (data) =>
      withAt(
        data,
        "response.output",
        listAt(data, "response.output").toReversed(),
      ),
  ),
};

/** All faults of the area. */
export const RESPONSES_MUTANTS: readonly Mutant[] = Object.entries({
  ...REPLY_FAULTS,
  ...STREAM_FAULTS,
  ...REQUEST_FAULTS,
  ...REFUSAL_FAULTS,
}).map(([name, hooks]) => ({
  name,
  about: name.replaceAll("-", " "),
  hooks,
}));
