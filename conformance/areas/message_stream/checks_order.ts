/**
 * Checks of the area `message_stream`: the order of the events, and the shape of all events but the
 * first.
 */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { MESSAGE_FORMS_STREAM } from "../message_reply/scenarios_forms.ts";
import {
  delta,
  event,
  opening,
  out,
  putIn,
} from "../../faults/change_messages.ts";
import { messageFrames, withAt } from "../../faults/change_reply.ts";
import { compare, fact, factOf, wholeNumber } from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { index, PING } from "./faults.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { finalOf, messageStreams } from "../../endpoints/read_messages.ts";
import { orderFindings, splitStream } from "../../endpoints/event_order.ts";

const SECTION = "Message endpoint stream";
const FORMS = [TEXT_SCENARIO, MESSAGE_FORMS_STREAM];
const BLOCKS =
  "https://platform.claude.com/docs/en/build-with-claude/streaming, content block events";

/** The empty content with which a block of each type starts. */
const EMPTY: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  text: { text: "" },
  thinking: { thinking: "" },
  tool_use: { input: {} },
};

function startsWell(block: Json | undefined): boolean {
  const type = textAt(block, "type");
  const empty = Object.entries(EMPTY[type] ?? {}).every(([name, value]) =>
    sameJson(at(block, name), value)
  );
  const named = type !== "tool_use" ||
    (textAt(block, "id") !== "" && textAt(block, "name") !== "");
  return type !== "" && empty && named &&
    (type !== "redacted_thinking" || textAt(block, "data") !== "");
}

export const MESSAGE_STREAM_ORDER_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: FORMS,
  of: messageStreams,
}, [
  {
    id: "message_stream.last",
    rule: "| message_stop | only `type` | Last event |",
    each: (x) => [
      ...orderFindings([x], "stop", "message_stop last and once"),
      ...splitStream(x).stops.map((stop) =>
        factOf("message_stop", stop.data.slice(0, 200), x, stop).mustBe(
          "only type",
          isObject(stop.json) && Object.keys(stop.json).join() === "type",
        )
      ),
      compare("end of the body", x.ending, "complete"),
    ],
    faults: {
      "message-stop-missing": messageFrames((data, _, frame) =>
        frame.event === "message_stop" ? undefined : data
      ),
      "message-done-line": messageFrames((data, _, frame) =>
        frame.event === "message_stop" ? [frame, { data: "[DONE]" }] : data
      ),
      "message-stream-reset": {
        writer: (writer, { endpoint, stream }) =>
          endpoint === "messages" && stream
            ? { ...writer, end: () => setTimeout(writer.reset, 20) }
            : writer,
      },
      "message-stop-twice": event(
        "message_stop",
        (_data, _x, frame) => [frame, frame],
      ),
      "message-stop-with-more": event(
        "message_stop",
        { usage: { output_tokens: 12 } },
      ),
      "message-ping-last": event(
        "message_stop",
        (_data, _x, frame) => [frame, PING],
      ),
      "message-delta-and-stop-swapped": messageFrames(
        (data, { state }, frame) => {
          if (frame.event === "message_delta") {
            state.set("delta", data);
            return undefined;
          }
          const held = state.get("delta");
          return frame.event === "message_stop" && isObject(held)
            ? [frame, out(held)]
            : data;
        },
      ),
    },
  },
  {
    id: "message_stream.blocks",
    source: BLOCKS,
    rule:
      "A block is started, receives its deltas and is stopped; one is open at a time; indexes count from 0.",
    judge: (e) => {
      const streams = messageStreams(e);
      return [
        ...orderFindings(
          streams,
          "index",
          "indexes from 0, one after the other",
        ),
        ...orderFindings(streams, "overlap", "one block open at a time"),
        ...orderFindings(
          streams,
          "in-block",
          "deltas and stops of the open block",
        ),
      ];
    },
    faults: {
      "message-block-stop-missing": messageFrames((data, _, frame) =>
        frame.event === "content_block_stop" ? undefined : data
      ),
      "message-index-gap": messageFrames((data) =>
        typeof data["index"] === "number"
          ? { ...data, index: data["index"] + 1 }
          : data
      ),
      "message-delta-after-stop": messageFrames((data, _, frame) =>
        frame.event === "content_block_stop"
          ? [frame, {
            event: "content_block_delta",
            data: {
              type: "content_block_delta",
              index: data["index"],
              delta: { type: "text_delta", text: "" },
            },
          }]
          : data
      ),
      "message-block-start-missing": event(
        "content_block_start",
        () => undefined,
      ),
      "message-block-start-twice": event(
        "content_block_start",
        (_data, _x, frame) => [frame, frame],
      ),
      "message-block-stop-twice": event(
        "content_block_stop",
        (_data, _x, frame) => [frame, frame],
      ),
      "message-index-missing": index("content_block_delta", () => undefined),
      "message-index-text": index("content_block_delta", String),
      "message-index-always-0": messageFrames((data) =>
        data["index"] === undefined ? data : { ...data, index: 0 }
      ),
      "message-delta-index-other": index("content_block_delta", (at) => at + 1),
      "message-stop-index-missing": index(
        "content_block_stop",
        () => undefined,
      ),
    },
  },
  {
    id: "message_stream.delta-order",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, event types",
    rule:
      "message_delta comes after the content blocks and before message_stop, and carries the stop reason once.",
    judge: (e) =>
      orderFindings(
        messageStreams(e),
        "delta",
        "message_delta after all blocks",
      ),
    faults: {
      "message-delta-early": messageFrames((data, _x, frame) => {
        if (frame.event === "message_delta") return undefined;
        if (frame.event !== "content_block_stop") return data;
        const early = {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: 12 },
        };
        return [out(early), frame];
      }),
      "message-delta-missing": event("message_delta", () => undefined),
      "message-delta-event-twice": event(
        "message_delta",
        (_data, _x, frame) => [frame, frame],
      ),
      ...sharedFaults("message-delta-and-stop-swapped"),
    },
  },
  {
    id: "message_stream.delta",
    rule:
      "| content_block_delta | `index` (integer), `delta` with `type` = `text_delta` and `text` (string) |",
    judge: (e) =>
      orderFindings(
        messageStreams(e),
        "kind",
        "deltas that fit the type of their block",
      ),
    faults: {
      "message-delta-type-missing": delta(
        "text_delta",
        ({ text }) => ({ text }),
      ),
      "message-delta-type-renamed": delta(
        "text_delta",
        ({ text }) => ({ type: "text", text }),
      ),
      "message-delta-text-number": delta("text_delta", { text: 1 }),
      "message-delta-content": delta(
        "text_delta",
        ({ type, text }) => ({ type, content: text }),
      ),
      "message-fragment-as-text": delta(
        "input_json_delta",
        ({ partial_json }) => ({ type: "text_delta", text: partial_json }),
      ),
    },
  },
  {
    id: "message_stream.block-start",
    source: BLOCKS,
    rule:
      "content_block_start has a content_block with its type and no content yet; for a tool call also id and name.",
    each: (x, e) => {
      const blocks = splitStream(x).blocks;
      if (blocks.length === 0) {
        // A real model may spend its limit on thinking that it does not send.
        return [fact(e.mode === "live", "blocks", "one or more", "none")];
      }
      return blocks.map(({ start }) =>
        factOf("content_block", at(start.json, "content_block"), x, start)
          .mustBe(
            "a type, and empty content of that type",
            startsWell(at(start.json, "content_block")),
          )
      );
    },
    faults: {
      "message-block-missing": event(
        "content_block_start",
        { content_block: undefined },
      ),
      "message-block-without-type": opening(
        "text",
        { type: undefined },
      ),
      "message-block-text-missing": opening("text", () => ({ type: "text" })),
      "message-block-text-filled": opening(
        "text",
        () => ({ type: "text", text: "Well, " }),
      ),
      "message-block-input-missing": opening(
        "tool_use",
        { input: undefined },
      ),
      "message-block-input-text": opening("tool_use", { input: "" }),
      "message-block-tool-id-missing": opening(
        "tool_use",
        { id: undefined },
      ),
      "message-block-tool-name-empty": opening("tool_use", { name: "" }),
    },
  },
  {
    id: "message_stream.message-delta",
    rule: "| message_delta | `delta.stop_reason`, `usage.output_tokens` |",
    each: (x) => {
      const reason = finalOf(x, "delta.stop_reason");
      const output = finalOf(x, "usage.output_tokens");
      const known = ["end_turn", "max_tokens", "stop_sequence", "tool_use"];
      return [
        factOf("delta.stop_reason", reason).mustBe(
          known.join(" or "),
          typeof reason === "string" && known.includes(reason),
        ),
        factOf("usage.output_tokens", output).mustBe(
          "an integer",
          wholeNumber(0)(output),
        ),
      ];
    },
    faults: {
      "message-final-usage-missing": messageFrames((data, _, frame) =>
        frame.event === "message_delta" ? withAt(data, "usage", {}) : data
      ),
      "message-final-usage-text": putIn(
        "message_delta",
        "usage.output_tokens",
        "12",
      ),
      "message-stop-reason-null": messageFrames((data, _, frame) =>
        frame.event === "message_delta"
          ? withAt(data, "delta.stop_reason", null)
          : data
      ),
      "message-stop-reason-of-chat": putIn(
        "message_delta",
        "delta.stop_reason",
        "stop",
      ),
      "message-stop-reason-misplaced": event("message_delta", (data) => ({
        ...data,
        delta: {},
        stop_reason: textAt(data, "delta.stop_reason"),
      })),
    },
  },
  {
    id: "message_stream.delta-sequence",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, message_delta",
    rule:
      "`delta.stop_sequence` of message_delta is null or absent unless a stop string hit.",
    each: (x) => {
      const reason = finalOf(x, "delta.stop_reason");
      const sequence = finalOf(x, "delta.stop_sequence");
      return factOf("delta.stop_sequence", sequence).mustBe(
        "null, or the stop sequence that hit",
        sequence === undefined || sequence === null ||
          (reason === "stop_sequence" && sequence === "END"),
      );
    },
    faults: {
      "message-stream-sequence-filled": putIn(
        "message_delta",
        "delta.stop_sequence",
        "",
      ),
    },
  },
]);
