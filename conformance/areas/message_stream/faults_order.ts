/**
 * Mutants for the checks of the area `message_stream`: events that are missing, repeated, misplaced
 * or malformed.
 */
import { numberAt, textAt } from "../../evidence/json_path.ts";
import { isObject, type JsonObject } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import {
  delta,
  event,
  opening,
  out,
} from "../../reference_gateway/change_messages.ts";
import { MESSAGE_STREAM_START_MUTANTS } from "./faults_start.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const PING = out({ type: "ping" });

/** A mutant that changes the index of one event. */
function index(
  name: string,
  about: string,
  type: string,
  change: (index: number) => JsonObject["index"],
): Mutant {
  return event(
    name,
    about,
    type,
    (data) => ({ ...data, index: change(numberAt(data, "index") ?? 0) }),
  );
}

const ENDS: readonly Mutant[] = [
  event(
    "message-stop-twice",
    "message_stop is sent twice",
    "message_stop",
    (_data, _x, frame) => [frame, frame],
  ),
  event(
    "message-stop-with-more",
    "message_stop has more members than its type",
    "message_stop",
    (data) => ({ ...data, usage: { output_tokens: 12 } }),
  ),
  event(
    "message-ping-last",
    "A ping follows message_stop",
    "message_stop",
    (_data, _x, frame) => [frame, PING],
  ),
  {
    name: "message-delta-and-stop-swapped",
    about: "message_stop is sent before message_delta",
    hooks: frames("messages", (data, { state }, frame) => {
      if (frame.event === "message_delta") {
        state.set("delta", data);
        return undefined;
      }
      const held = state.get("delta");
      return frame.event === "message_stop" && isObject(held)
        ? [frame, out(held)]
        : data;
    }),
  },
  {
    name: "message-delta-early",
    about: "message_delta is sent before the last block is stopped",
    hooks: frames("messages", (data, _x, frame) => {
      if (frame.event === "message_delta") return undefined;
      if (frame.event !== "content_block_stop") return data;
      const early = {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 12 },
      };
      return [out(early), frame];
    }),
  },
  event(
    "message-delta-missing",
    "message_delta is missing",
    "message_delta",
    () => undefined,
  ),
  event(
    "message-delta-event-twice",
    "message_delta is sent twice",
    "message_delta",
    (_data, _x, frame) => [frame, frame],
  ),
  event(
    "message-final-usage-text",
    "Output tokens are a string",
    "message_delta",
    (data) => withAt(data, "usage.output_tokens", "12"),
  ),
  event(
    "message-stop-reason-of-chat",
    "The stop reason is the chat format's",
    "message_delta",
    (data) => withAt(data, "delta.stop_reason", "stop"),
  ),
  event(
    "message-stop-reason-misplaced",
    "The stop reason is beside the delta",
    "message_delta",
    (data) => ({
      ...data,
      delta: {},
      stop_reason: textAt(data, "delta.stop_reason"),
    }),
  ),
  event(
    "message-stream-sequence-filled",
    "A stop sequence is reported that did not hit",
    "message_delta",
    (data) => withAt(data, "delta.stop_sequence", ""),
  ),
];

const BLOCKS: readonly Mutant[] = [
  event(
    "message-block-start-missing",
    "Blocks are never started",
    "content_block_start",
    () => undefined,
  ),
  event(
    "message-block-start-twice",
    "Blocks are started twice",
    "content_block_start",
    (_data, _x, frame) => [frame, frame],
  ),
  event(
    "message-block-stop-twice",
    "Blocks are stopped twice",
    "content_block_stop",
    (_data, _x, frame) => [frame, frame],
  ),
  index(
    "message-index-missing",
    "Deltas have no index",
    "content_block_delta",
    () => undefined,
  ),
  index(
    "message-index-text",
    "Indexes of deltas are strings",
    "content_block_delta",
    String,
  ),
  {
    name: "message-index-always-0",
    about: "Every block has the index 0",
    hooks: frames(
      "messages",
      (data) => data["index"] === undefined ? data : { ...data, index: 0 },
    ),
  },
  index(
    "message-delta-index-other",
    "Deltas have another block's index",
    "content_block_delta",
    (at) => at + 1,
  ),
  index(
    "message-stop-index-missing",
    "The stop of a block has no index",
    "content_block_stop",
    () => undefined,
  ),
  event(
    "message-block-missing",
    "content_block_start has no block",
    "content_block_start",
    (data) => ({ ...data, content_block: undefined }),
  ),
  opening(
    "message-block-without-type",
    "Blocks have no type",
    "text",
    ({ type: _, ...rest }) => rest,
  ),
  opening(
    "message-block-text-missing",
    "A text block starts without a text",
    "text",
    () => ({ type: "text" }),
  ),
  opening(
    "message-block-text-filled",
    "A text block starts with text in it",
    "text",
    () => ({ type: "text", text: "Well, " }),
  ),
  opening(
    "message-block-input-missing",
    "A call starts without an input",
    "tool_use",
    ({ input: _, ...rest }) => rest,
  ),
  opening(
    "message-block-input-text",
    "A call starts with a string as input",
    "tool_use",
    (block) => ({ ...block, input: "" }),
  ),
  opening(
    "message-block-tool-id-missing",
    "A call starts without an id",
    "tool_use",
    ({ id: _, ...rest }) => rest,
  ),
  opening(
    "message-block-tool-name-empty",
    "A call starts without a name",
    "tool_use",
    (block) => ({ ...block, name: "" }),
  ),
];

const DELTAS: readonly Mutant[] = [
  delta(
    "message-delta-type-missing",
    "Deltas have no type",
    "text_delta",
    ({ text }) => ({ text }),
  ),
  delta(
    "message-delta-type-renamed",
    "Text deltas have the type text",
    "text_delta",
    ({ text }) => ({ type: "text", text }),
  ),
  delta(
    "message-delta-text-number",
    "The text of a delta is a number",
    "text_delta",
    (each) => ({ ...each, text: 1 }),
  ),
  delta(
    "message-delta-content",
    "Text is in the member content, as in the chat format",
    "text_delta",
    ({ type, text }) => ({ type, content: text }),
  ),
  delta(
    "message-fragment-as-text",
    "Arguments of a call are sent as text deltas",
    "input_json_delta",
    ({ partial_json }) => ({ type: "text_delta", text: partial_json }),
  ),
];

/** Part of `MESSAGE_STREAM_MUTANTS`. */
export const MESSAGE_STREAM_ORDER_MUTANTS: readonly Mutant[] = [
  ...MESSAGE_STREAM_START_MUTANTS,
  ...ENDS,
  ...BLOCKS,
  ...DELTAS,
];
