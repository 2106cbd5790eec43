/**
 * Mutants for the checks of the area `message_stream` that compare with the fixture: streams in the
 * right order with wrong content.
 */
import { numberAt, textAt } from "../../evidence/json_path.ts";
import type { Context } from "../../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import {
  asLatin1,
  delta,
  event,
  opening,
  out,
} from "../../reference_gateway/change_messages.ts";
import { MESSAGE_STREAM_FORM_MUTANTS } from "./faults_forms.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** A mutant that changes the text of text deltas; undefined removes the delta. */
function changeText(
  name: string,
  about: string,
  change: (text: string, x: Context) => string | undefined,
): Mutant {
  return delta(name, about, "text_delta", (each, x) => {
    const text = change(textAt(each, "text"), x);
    return text === undefined ? undefined : { ...each, text };
  });
}

/** A mutant that changes message_delta. */
function final(
  name: string,
  about: string,
  change: (data: JsonObject) => JsonObject,
): Mutant {
  return event(name, about, "message_delta", change);
}

/** A mutant that replaces one stop reason by another. */
function stopped(
  name: string,
  about: string,
  reason: string,
  change: Readonly<Record<string, Json>>,
): Mutant {
  return final(name, about, (data) => {
    const before = textAt(data, "delta.stop_reason");
    return before === reason
      ? { ...data, delta: { stop_reason: before, ...change } }
      : data;
  });
}

/** A mutant that changes a count of the final usage. */
function counted(
  name: string,
  about: string,
  field: string,
  change: (count: number) => number,
): Mutant {
  return final(name, about, (data) => {
    const count = numberAt(data, `usage.${field}`) ?? 0;
    return withAt(data, `usage.${field}`, change(count));
  });
}

/** Number of this call within an exchange, from 1. */
function nth({ state }: Context, name: string): number {
  const count = Number(state.get(name) ?? 0) + 1;
  state.set(name, count);
  return count;
}

const WORDS: readonly Mutant[] = [
  delta(
    "message-delta-twice",
    "One text delta is sent twice",
    "text_delta",
    (each, x, frame) => nth(x, "text") === 2 ? [frame, frame] : each,
  ),
  {
    name: "message-deltas-swapped",
    about: "Two text deltas are swapped",
    hooks: frames("messages", (data, x, frame) => {
      if (textAt(data, "delta.type") !== "text_delta") return data;
      const count = nth(x, "text");
      if (count === 1) {
        x.state.set("held", data);
        return undefined;
      }
      const held = x.state.get("held");
      return count === 2 && isObject(held) ? [frame, out(held)] : data;
    }),
  },
  changeText(
    "message-delta-latin1",
    "UTF-8 is decoded as Latin-1",
    (text) => text.length > 4096 ? text : asLatin1(text),
  ),
  changeText(
    "message-delta-trimmed",
    "Whitespace around deltas is lost",
    (text) => text.trim(),
  ),
  changeText(
    "message-long-stream-capped",
    "Nothing is sent after the hundredth delta",
    (text, x) => nth(x, "text") > 100 ? undefined : text,
  ),
  delta(
    "message-fragment-lost",
    "A fragment of arguments is lost",
    "input_json_delta",
    (each, x) =>
      textAt(each, "partial_json") !== "" && nth(x, "args") === 1
        ? undefined
        : each,
  ),
  delta(
    "message-fragment-twice",
    "A fragment of arguments is sent twice",
    "input_json_delta",
    (each, x, frame) =>
      textAt(each, "partial_json") !== "" && nth(x, "args") === 1
        ? [frame, frame]
        : each,
  ),
  opening(
    "message-stream-tool-renamed",
    "Names of tools get a prefix",
    "tool_use",
    (block) => ({ ...block, name: `functions.${textAt(block, "name")}` }),
  ),
  {
    name: "message-stream-second-tool-lost",
    about: "Only the first call is sent",
    hooks: frames("messages", (data, x) => {
      const tool = textAt(data, "content_block.type") === "tool_use";
      if (tool && nth(x, "calls") > 1) x.state.set("lost", data["index"] ?? 0);
      return x.state.has("lost") && data["index"] !== undefined
        ? undefined
        : data;
    }),
  },
  delta(
    "message-stream-signature-lost",
    "Thinking has no signature",
    "signature_delta",
    () => undefined,
  ),
  opening(
    "message-stream-redacted-lost",
    "Redacted thinking is emptied",
    "redacted_thinking",
    (block) => ({ ...block, data: "" }),
  ),
  delta(
    "message-fragment-latin1",
    "UTF-8 in arguments is decoded as Latin-1",
    "input_json_delta",
    (each) => ({
      ...each,
      partial_json: asLatin1(textAt(each, "partial_json").slice(0, 999)) +
        textAt(each, "partial_json").slice(999),
    }),
  ),
  opening(
    "message-stream-tool-ids-same",
    "All calls have the same id",
    "tool_use",
    (block) => ({ ...block, id: "toolu_1" }),
  ),
  opening(
    "message-stream-tool-id-altered",
    "Ids of calls are replaced",
    "tool_use",
    (block) => ({ ...block, id: `${textAt(block, "id")}x` }),
  ),
];

const FINALS: readonly Mutant[] = [
  stopped(
    "message-stream-max-tokens-as-end",
    "A truncated reply is reported as complete",
    "max_tokens",
    { stop_reason: "end_turn" },
  ),
  stopped(
    "message-stream-tool-stop-as-end",
    "A reply with a call has the stop reason of plain text",
    "tool_use",
    { stop_reason: "end_turn" },
  ),
  stopped(
    "message-stream-sequence-as-end",
    "A stop sequence is reported as an ordinary end",
    "stop_sequence",
    { stop_reason: "end_turn", stop_sequence: null },
  ),
  stopped(
    "message-stream-sequence-null",
    "The stop sequence that hit is not reported",
    "stop_sequence",
    { stop_sequence: null },
  ),
  counted(
    "message-stream-output-off-by-one",
    "The output is one token too high",
    "output_tokens",
    (count) => count + 1,
  ),
  counted(
    "message-stream-output-1",
    "The final output is the count of the start",
    "output_tokens",
    () => 1,
  ),
  counted(
    "message-stream-input-off-by-one",
    "The input is one token too high",
    "input_tokens",
    (count) => count + 1,
  ),
  counted(
    "message-stream-cache-lost",
    "Cache reads are not reported",
    "cache_read_input_tokens",
    () => 0,
  ),
  event(
    "message-start-output-500",
    "message_start has made-up output tokens",
    "message_start",
    (data) => withAt(data, "message.usage.output_tokens", 500),
  ),
  event(
    "message-start-input-estimated",
    "message_start has made-up input tokens",
    "message_start",
    (data) => withAt(data, "message.usage.input_tokens", 99),
  ),
];

/** Part of `MESSAGE_STREAM_MUTANTS`. */
export const MESSAGE_STREAM_EXACT_MUTANTS: readonly Mutant[] = [
  ...WORDS,
  ...FINALS,
  ...MESSAGE_STREAM_FORM_MUTANTS,
];
