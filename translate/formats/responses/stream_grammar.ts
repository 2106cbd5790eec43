/**
 * Checks a client's stream against the grammar of this format, for tests only: order and nesting
 * of events, sequence numbers, indices, ids and joined deltas, and that the last frame repeats
 * all content.
 */
import assert from "node:assert/strict";
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import { sseParser } from "../../stream/sse.ts";

/** A stream that follows the grammar, decoded. */
export interface ReadResponse {
  /** `completed`, `incomplete` or `failed`. */
  readonly ending: string;
  /** The reply in the last frame. */
  readonly reply: JsonObject;
  /** The items in the `output_item.done` frames. */
  readonly items: readonly JsonObject[];
  /** Types of all events, without `response.`. */
  readonly types: readonly string[];
}

/** Types of the events that may occur inside each type of item. */
const BODY: Readonly<Record<string, readonly string[]>> = {
  message: [
    "content_part.added",
    "output_text.delta",
    "output_text.annotation.added",
    "output_text.done",
    "refusal.delta",
    "refusal.done",
    "content_part.done",
  ],
  reasoning: [
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
  ],
  function_call: [
    "function_call_arguments.delta",
    "function_call_arguments.done",
  ],
  custom_tool_call: [
    "custom_tool_call_input.delta",
    "custom_tool_call_input.done",
  ],
  code_interpreter_call: [
    "code_interpreter_call.in_progress",
    "code_interpreter_call_code.delta",
    "code_interpreter_call_code.done",
    "code_interpreter_call.interpreting",
    "code_interpreter_call.completed",
  ],
};

/** The events of each item type, in order. */
const ITEM_GRAMMAR: Readonly<Record<string, RegExp>> = {
  message:
    /^content_part\.added (?:(?:output_text\.delta )*(?:output_text\.annotation\.added )*output_text\.done|(?:refusal\.delta )*refusal\.done) content_part\.done $/,
  reasoning:
    /^(?:reasoning_summary_part\.added (?:reasoning_summary_text\.delta )+reasoning_summary_text\.done reasoning_summary_part\.done )?$/,
  function_call:
    /^(?:function_call_arguments\.delta )*function_call_arguments\.done $/,
  custom_tool_call:
    /^(?:custom_tool_call_input\.delta )*custom_tool_call_input\.done $/,
  code_interpreter_call:
    /^code_interpreter_call\.in_progress (?:code_interpreter_call_code\.delta )*code_interpreter_call_code\.done code_interpreter_call\.interpreting code_interpreter_call\.completed $/,
};

/** Reads a stream; throws if it breaks the grammar. */
export function readResponseStream(text: string): ReadResponse {
  const reader = sseParser();
  const frames = [
    ...reader.push(new TextEncoder().encode(text)),
    ...reader.end(),
  ];
  const events = frames.filter(({ data }) => data !== "").map((frame) => {
    const data: JsonObject = JSON.parse(frame.data);
    assert.equal(frame.event, data["type"]);
    return data;
  });
  events.forEach((event, n) => assert.equal(event["sequence_number"], n));
  const types = events.map(({ type }) =>
    String(type).replace(/^response\./, "")
  );
  const sent = events.filter(({ type }) => type !== "keepalive");
  assert.equal(sent[0]?.["type"], "response.created");
  assert.equal(sent[1]?.["type"], "response.in_progress");
  const created = objectOr(sent[0]?.["response"]);
  assert.equal(created["status"], "in_progress");
  assert.deepEqual(created["output"], []);
  assert.equal(created["usage"], null);
  const last = sent.at(-1) ?? {};
  const ending = String(last["type"]).replace(/^response\./, "");
  assert.match(ending, /^(?:completed|incomplete|failed)$/);
  if (ending === "failed") assert.equal(sent.at(-2)?.["type"], "error");
  const reply = objectOr(last["response"]);
  assert.equal(reply["id"], created["id"]);
  assert.equal(reply["created_at"], created["created_at"]);
  assert.equal(reply["status"], ending);
  const body = sent.slice(2, ending === "failed" ? -2 : -1);
  const items = readItems(body, ending === "failed");
  const output = arrayOr(reply["output"]).map(objectOr);
  assert.deepEqual(output.slice(0, items.length), items);
  const cut = output.slice(items.length);
  assert.ok(cut.length <= (ending === "failed" ? 1 : 0));
  for (const { type, status } of cut) {
    if (type !== "reasoning") assert.equal(status, "incomplete");
  }
  const ids = items.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, "ids are unique");
  return { ending, reply, items, types };
}

/** The complete items. Only in a failed stream may the last item have no end. */
function readItems(
  body: readonly JsonObject[],
  mayBeCut: boolean,
): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let open: { item: JsonObject; words: string; text: string } | undefined;
  for (const event of body) {
    const type = String(event["type"]).replace(/^response\./, "");
    assert.equal(event["output_index"], items.length, type);
    if (type === "output_item.added") {
      assert.equal(open, undefined, "items do not overlap");
      open = { item: objectOr(event["item"]), words: "", text: "" };
      continue;
    }
    assert.ok(open !== undefined, `${type} outside of an item`);
    const kind = String(open.item["type"]);
    if (type === "output_item.done") {
      const item = objectOr(event["item"]);
      assert.equal(item["id"], open.item["id"]);
      assert.equal(item["type"], kind);
      assert.equal(item["call_id"], open.item["call_id"]);
      assert.notEqual(item["call_id"] ?? "none", item["id"]);
      assert.match(open.words, ITEM_GRAMMAR[kind] ?? /never/, kind);
      assert.equal(open.text, textOf(item));
      items.push(item);
      open = undefined;
      continue;
    }
    assert.ok(BODY[kind]?.includes(type), `${type} in ${kind}`);
    assert.equal(event["item_id"], open.item["id"]);
    if (kind === "message") assert.equal(event["content_index"], 0);
    if (kind === "reasoning") assert.equal(event["summary_index"], 0);
    open.words += `${type} `;
    if (type.endsWith(".delta")) {
      assert.notEqual(event["delta"], "");
      open.text += String(event["delta"]);
    }
    const whole = event["text"] ?? event["refusal"] ?? event["arguments"] ??
      event["input"] ?? event["code"];
    if (type.endsWith(".done") && whole !== undefined) {
      assert.equal(whole, open.text);
    }
  }
  assert.ok(mayBeCut || open === undefined, "an item is not done");
  return items;
}

function textOf(item: JsonObject): string {
  const parts = [...arrayOr(item["content"]), ...arrayOr(item["summary"])]
    .map(objectOr);
  const words = parts.map((part) => part["text"] ?? part["refusal"]);
  return [...words, item["arguments"], item["input"], item["code"]].filter((
    word,
  ) => word !== undefined).join("");
}
