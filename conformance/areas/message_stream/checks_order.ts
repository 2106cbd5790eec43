/**
 * Checks of the area `message_stream`: the order of the events, and the shape of all events but the
 * first.
 */
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, wholeNumber } from "../../suite/finding.ts";
import { finalOf, messageStreams } from "../message_reply/reply_content.ts";
import { orderFindings, splitStream } from "./event_order.ts";

const SECTION = "Message endpoint stream";
const FORMS = ["text", "message-forms-stream"];
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

/** Part of `MESSAGE_STREAM_CHECKS`. */
export const MESSAGE_STREAM_ORDER_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: FORMS,
}, [
  {
    id: "message_stream.last",
    rule: {
      section: SECTION,
      text: "| message_stop | only `type` | Last event |",
    },
    judge: (e) =>
      messageStreams(e).flatMap((x) => [
        ...orderFindings([x], "stop", "message_stop last and once"),
        ...splitStream(x).stops.map((stop) =>
          fact(
            isObject(stop.json) && Object.keys(stop.json).join() === "type",
            "message_stop",
            "only type",
            stop.data.slice(0, 200),
            x,
            stop,
          )
        ),
        fact(
          x.ending === "complete",
          "end of the body",
          "complete",
          x.ending,
          x,
        ),
      ]),
    mutants: [
      "message-stop-missing",
      "message-done-line",
      "message-stream-reset",
      "message-stop-twice",
      "message-stop-with-more",
      "message-ping-last",
      "message-delta-and-stop-swapped",
    ],
  },
  {
    id: "message_stream.blocks",
    rule: {
      source: BLOCKS,
      text:
        "A block is started, receives its deltas and is stopped; one is open at a time; indexes count from 0.",
    },
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
    mutants: [
      "message-block-stop-missing",
      "message-index-gap",
      "message-delta-after-stop",
      "message-block-start-missing",
      "message-block-start-twice",
      "message-block-stop-twice",
      "message-index-missing",
      "message-index-text",
      "message-index-always-0",
      "message-delta-index-other",
      "message-stop-index-missing",
    ],
  },
  {
    id: "message_stream.delta-order",
    rule: {
      source:
        "https://platform.claude.com/docs/en/build-with-claude/streaming, event types",
      text:
        "message_delta comes after the content blocks and before message_stop, and carries the stop reason once.",
    },
    judge: (e) =>
      orderFindings(
        messageStreams(e),
        "delta",
        "message_delta after all blocks",
      ),
    mutants: [
      "message-delta-early",
      "message-delta-missing",
      "message-delta-event-twice",
      "message-delta-and-stop-swapped",
    ],
  },
  {
    id: "message_stream.delta",
    rule: {
      section: SECTION,
      text:
        "| content_block_delta | `index` (integer), `delta` with `type` = `text_delta` and `text` (string) |",
    },
    judge: (e) =>
      orderFindings(
        messageStreams(e),
        "kind",
        "deltas that fit the type of their block",
      ),
    mutants: [
      "message-delta-type-missing",
      "message-delta-type-renamed",
      "message-delta-text-number",
      "message-delta-content",
      "message-fragment-as-text",
    ],
  },
  {
    id: "message_stream.block-start",
    rule: {
      source: BLOCKS,
      text:
        "content_block_start has a content_block with its type and no content yet; for a tool call also id and name.",
    },
    judge: (e) =>
      messageStreams(e).flatMap((x) => {
        const blocks = splitStream(x).blocks;
        if (blocks.length === 0) {
          // A real model may spend its limit on thinking that it does not send.
          return [fact(e.mode === "live", "blocks", "one or more", "none", x)];
        }
        return blocks.map(({ start }) =>
          fact(
            startsWell(at(start.json, "content_block")),
            "content_block",
            "a type, and empty content of that type",
            at(start.json, "content_block"),
            x,
            start,
          )
        );
      }),
    mutants: [
      "message-block-missing",
      "message-block-without-type",
      "message-block-text-missing",
      "message-block-text-filled",
      "message-block-input-missing",
      "message-block-input-text",
      "message-block-tool-id-missing",
      "message-block-tool-name-empty",
    ],
  },
  {
    id: "message_stream.message-delta",
    rule: {
      section: SECTION,
      text: "| message_delta | `delta.stop_reason`, `usage.output_tokens` |",
    },
    judge: (e) =>
      messageStreams(e).flatMap((x) => {
        const reason = finalOf(x, "delta.stop_reason");
        const output = finalOf(x, "usage.output_tokens");
        const known = ["end_turn", "max_tokens", "stop_sequence", "tool_use"];
        return [
          fact(
            typeof reason === "string" && known.includes(reason),
            "delta.stop_reason",
            known.join(" or "),
            reason,
            x,
          ),
          fact(
            wholeNumber(0)(output),
            "usage.output_tokens",
            "an integer",
            output,
            x,
          ),
        ];
      }),
    mutants: [
      "message-final-usage-missing",
      "message-final-usage-text",
      "message-stop-reason-null",
      "message-stop-reason-of-chat",
      "message-stop-reason-misplaced",
    ],
  },
  {
    id: "message_stream.delta-sequence",
    rule: {
      source:
        "https://platform.claude.com/docs/en/build-with-claude/streaming, message_delta",
      text:
        "`delta.stop_sequence` of message_delta is null or absent unless a stop string hit.",
    },
    judge: (e) =>
      messageStreams(e).map((x) => {
        const reason = finalOf(x, "delta.stop_reason");
        const sequence = finalOf(x, "delta.stop_sequence");
        return fact(
          sequence === undefined || sequence === null ||
            (reason === "stop_sequence" && sequence === "END"),
          "delta.stop_sequence",
          "null, or the stop sequence that hit",
          sequence,
          x,
        );
      }),
    mutants: ["message-stream-sequence-filled"],
  },
]);
