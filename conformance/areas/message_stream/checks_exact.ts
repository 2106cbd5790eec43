/** Checks of the area `message_stream` that compare with the fixture's content. */
import { messageFrames } from "../../reference_gateway/change_reply.ts";
import {
  comparisons,
  DETAILS,
  STOP_ROW,
  UNCHANGED,
} from "../message_reply/checks_exact.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import { isObject } from "@model-gateway/replay/json";
import {
  changeText,
  counted,
  messageDeltaTrimmed,
  messageStreamOutput1,
  messageStreamSignatureLost,
  messageStreamToolStopAsEnd,
  nth,
  stopped,
} from "./faults.ts";
import {
  asLatin1,
  delta,
  opening,
  out,
} from "../../reference_gateway/change_messages.ts";
import { textAt } from "../../evidence/json_path.ts";
import { scenariosOf } from "../message_reply/reply_content.ts";
import {
  compareBlocks,
  compareStop,
  compareText,
  compareTools,
  compareUsage,
  compareUsageDetails,
  forced,
} from "../message_reply/compare_fixture.ts";

const STREAM = "Message endpoint stream";

export const MESSAGE_STREAM_EXACT_CHECKS: readonly Check[] = checksWith({}, [
  ...comparisons("message_stream", "stream", [
    {
      name: "text-exact",
      rule: { section: STREAM, text: "Text arrives in `delta.text`" },
      judge: compareText,
      usual: {
        // One text delta is lost.
        "message-delta-lost": messageFrames((data, { state }, frame) => {
          if (frame.event !== "content_block_delta" || state.has("lost")) {
            return data;
          }
          state.set("lost", true);
          return undefined;
        }),
        "message-delta-twice": delta(
          "text_delta",
          (each, x, frame) => nth(x, "text") === 2 ? [frame, frame] : each,
        ),
        // Two text deltas are swapped.
        "message-deltas-swapped": messageFrames((data, x, frame) => {
          if (textAt(data, "delta.type") !== "text_delta") return data;
          const count = nth(x, "text");
          if (count === 1) {
            x.state.set("held", data);
            return undefined;
          }
          const held = x.state.get("held");
          return count === 2 && isObject(held) ? [frame, out(held)] : data;
        }),
        "message-delta-trimmed": messageDeltaTrimmed,
      },
      rare: {
        "message-delta-latin1": changeText((text) =>
          text.length > 4096 ? text : asLatin1(text)
        ),
        "message-long-stream-capped": changeText((text, x) =>
          nth(x, "text") > 100 ? undefined : text
        ),
      },
    },
    {
      name: "tools-exact",
      rule: {
        source:
          "https://platform.claude.com/docs/en/build-with-claude/streaming, input JSON delta",
        text:
          "The fragments of partial_json, joined, are the input of the tool call.",
      },
      judge: compareTools,
      usual: {
        "message-fragment-lost": delta(
          "input_json_delta",
          (each, x) =>
            textAt(each, "partial_json") !== "" && nth(x, "args") === 1
              ? undefined
              : each,
        ),
        "message-fragment-twice": delta(
          "input_json_delta",
          (each, x, frame) =>
            textAt(each, "partial_json") !== "" && nth(x, "args") === 1
              ? [frame, frame]
              : each,
        ),
        "message-stream-tool-renamed": opening(
          "tool_use",
          (block) => ({ ...block, name: `functions.${textAt(block, "name")}` }),
        ),
        // Only the first call is sent.
        "message-stream-second-tool-lost": messageFrames((data, x) => {
          const tool = textAt(data, "content_block.type") === "tool_use";
          if (tool && nth(x, "calls") > 1) {
            x.state.set("lost", data["index"] ?? 0);
          }
          return x.state.has("lost") && data["index"] !== undefined
            ? undefined
            : data;
        }),
      },
      rare: {
        // UTF-8 in arguments is decoded as Latin-1.
        "message-fragment-latin1": delta("input_json_delta", (each) => ({
          ...each,
          partial_json: asLatin1(textAt(each, "partial_json").slice(0, 999)) +
            textAt(each, "partial_json").slice(999),
        })),
      },
    },
    {
      name: "blocks-exact",
      rule: UNCHANGED,
      judge: compareBlocks,
      usual: {
        "message-stream-signature-lost": messageStreamSignatureLost,
        "message-stream-redacted-lost": opening("redacted_thinking", {
          data: "",
        }),
        "message-stream-tool-id-altered": opening(
          "tool_use",
          (block) => ({ ...block, id: `${textAt(block, "id")}x` }),
        ),
        "message-stream-tool-ids-same": opening("tool_use", { id: "toolu_1" }),
      },
      rare: shared("message-stream-tool-id-altered"),
    },
    {
      name: "stop-exact",
      rule: STOP_ROW,
      judge: compareStop,
      usual: {
        "message-stream-max-tokens-as-end": stopped("max_tokens", {
          stop_reason: "end_turn",
        }),
        "message-stream-tool-stop-as-end": messageStreamToolStopAsEnd,
        "message-stream-sequence-as-end": stopped("stop_sequence", {
          stop_reason: "end_turn",
          stop_sequence: null,
        }),
      },
      rare: shared("message-stream-tool-stop-as-end"),
    },
    {
      name: "usage-exact",
      rule: {
        section: STREAM,
        text: "Final output token count arrives here, not in message_start",
      },
      judge: compareUsage,
      usual: {
        "message-stream-output-off-by-one": counted(
          "output_tokens",
          (count) => count + 1,
        ),
        "message-stream-output-1": messageStreamOutput1,
      },
      rare: shared("message-stream-output-off-by-one"),
    },
    {
      name: "details-exact",
      rule: DETAILS,
      judge: compareUsageDetails,
      usual: {
        "message-stream-input-off-by-one": counted(
          "input_tokens",
          (count) => count + 1,
        ),
        "message-stream-sequence-null": stopped("stop_sequence", {
          stop_sequence: null,
        }),
      },
      rare: {
        "message-stream-cache-lost": counted(
          "cache_read_input_tokens",
          () => 0,
        ),
      },
    },
  ]),
  {
    id: "message_stream.forced-stops",
    rule: STOP_ROW,
    mode: "both",
    reads: scenariosOf("stream", "forms"),
    matching: "messages/*/stream/*",
    each: (x, e) => forced(x, e.mode),
    faults: shared(
      "message-stream-max-tokens-as-end",
      "message-stream-tool-stop-as-end",
    ),
  },
]);
