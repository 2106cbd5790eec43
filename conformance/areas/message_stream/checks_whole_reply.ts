/**
 * Checks of the area `message_stream`: streams compared with whole replies, long streams, and
 * streams that fail.
 */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { messageFrames } from "../../reference_gateway/change_reply.ts";
import { out, putIn } from "../../reference_gateway/change_messages.ts";
import { fact, NotTestable, observed } from "../../suite/finding.ts";
import { ODD_UPSTREAM_CHECKS } from "./checks_odd_upstreams.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import {
  messageDeltaTrimmed,
  messageStreamOutput1,
  messageStreamSignatureLost,
  messageStreamToolStopAsEnd,
} from "./faults.ts";
import { at, inKeyOrder, textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  callsOf,
  fixtureOf,
  joined,
  messageStreams,
  reasonOf,
  scenariosOf,
  sequenceOf,
  tokens,
  wholeReplies,
} from "../message_reply/reply_content.ts";
import { splitStream } from "./event_order.ts";

const ALL = ["forms", "blocks", "oddities", "sizes"] as const;
const PAIRS = [
  TEXT_SCENARIO,
  ...scenariosOf("whole", ...ALL),
  ...scenariosOf("stream", ...ALL),
];

/** The content that must be the same whole and streamed. */
function essence(x: Exchange): string {
  return JSON.stringify({
    text: joined(x, "text", "text"),
    thinking: joined(x, "thinking", "thinking"),
    signed: joined(x, "thinking", "signature") !== "",
    redacted: joined(x, "redacted_thinking", "data") !== "",
    tools: inKeyOrder(callsOf(x)),
    stop_reason: reasonOf(x) ?? null,
    stop_sequence: sequenceOf(x) ?? null,
    output_tokens: tokens(x, "output_tokens") ?? null,
  });
}

/** The input tokens in the first event of a stream. */
function startInput(x: Exchange): unknown {
  return at(splitStream(x).starts[0]?.json, "message.usage.input_tokens");
}

export const MESSAGE_STREAM_WHOLE_REPLY_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: messageStreams,
}, [
  {
    id: "message_stream.same-as-whole",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming: a stream is the same message in pieces",
    rule:
      "Content, stop reason and output tokens of a stream are those of the whole reply.",
    reads: PAIRS,
    judge: (e) => {
      const whole = wholeReplies(e);
      return messageStreams(e).map((x) => {
        const other = whole.find(({ label }) =>
          label === x.label.replace("/stream", "/whole")
        );
        if (other === undefined) {
          throw new NotTestable(`no whole reply for ${x.label}`);
        }
        const expected = essence(other);
        const found = essence(x);
        return fact(found === expected, "the reply", expected, found, x);
      });
    },
    faults: {
      "message-delta-trimmed": messageDeltaTrimmed,
      "message-stream-output-1": messageStreamOutput1,
      "message-stream-tool-stop-as-end": messageStreamToolStopAsEnd,
      "message-stream-signature-lost": messageStreamSignatureLost,
    },
  },
  {
    id: "message_stream.start-input-exact",
    source:
      "Clients show how full the context is by the input tokens of message_start",
    rule:
      "Where the upstream sends its input tokens at once, message_start has the same count.",
    reads: PAIRS,
    // Only an upstream of the same format sends its input tokens at once; it adds more for tools
    // that it runs itself.
    judge: (e) => {
      const whole = wholeReplies(e);
      return messageStreams(e)
        .filter((x) =>
          x.via === "messages" &&
          !["server-tool", "usage-late"].includes(fixtureOf(x))
        )
        .map((x) => {
          const other = whole.find(({ label }) =>
            label === x.label.replace("/stream", "/whole")
          );
          const expected = at(other?.json, "usage.input_tokens");
          return observed("message.usage.input_tokens", startInput(x), x, 0)
            .mustBe(
              `as in the whole reply: ${expected}`,
              expected !== undefined && startInput(x) === expected,
            );
        });
    },
    faults: {
      "message-start-input-estimated": putIn(
        "message_start",
        "message.usage.input_tokens",
        99,
      ),
    },
  },
  {
    id: "message_stream.start-output",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming: the token counts of message_delta are cumulative",
    rule:
      "The output tokens at the start of a stream are no more than those at its end.",
    mode: "both",
    reads: [TEXT_SCENARIO, ...scenariosOf("stream", "forms")],
    each: (x) => {
      const start = Number(
        at(splitStream(x).starts[0]?.json, "message.usage.output_tokens") ??
          0,
      );
      const end = tokens(x, "output_tokens");
      return observed("message.usage.output_tokens", start, x, 0).mustBe(
        `at most ${end}`,
        typeof end === "number" && start <= end,
      );
    },
    faults: {
      "message-start-output-500": putIn(
        "message_start",
        "message.usage.output_tokens",
        500,
      ),
    },
  },
  {
    id: "message_stream.in-pieces",
    section: "Stream behaviour",
    rule:
      "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.",
    reads: scenariosOf("stream", "sizes"),
    // Two is low for 200 frames of the upstream, since a gateway may join pieces that arrive
    // together.
    streams: "messages/*/stream/text-long",
    each: (x) => {
      const deltas = splitStream(x).blocks.flatMap((block) =>
        block.deltas
      ).length;
      return fact(deltas >= 2, "deltas", "several", `${deltas}`);
    },
    faults: {
      // A block's text is sent in one piece at its end.
      "message-one-delta": messageFrames((data, { state }, frame) => {
        if (textAt(data, "delta.type") === "text_delta") {
          state.set(
            "text",
            `${state.get("text") ?? ""}${textAt(data, "delta.text")}`,
          );
          return undefined;
        }
        const text = state.get("text");
        if (frame.event !== "content_block_stop" || typeof text !== "string") {
          return data;
        }
        state.delete("text");
        const whole = {
          type: "content_block_delta",
          index: data["index"],
          delta: { type: "text_delta", text },
        };
        return [out(whole), frame];
      }),
    },
  },
  ...ODD_UPSTREAM_CHECKS,
]);
