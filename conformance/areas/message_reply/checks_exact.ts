/**
 * Checks of the areas `message_reply` and `message_stream` that compare with the fixture's content,
 * each for whole replies and for streams.
 */
import { counted, stopped } from "./faults.ts";
import {
  type Check,
  type Faults,
  type Rule,
  shared,
} from "../../suite/check.ts";
import { isObject, objectOf, parseJson } from "@model-gateway/replay/json";
import {
  changeText,
  counted as streamCounted,
  messageDeltaTrimmed,
  messageStreamOutput1,
  messageStreamSignatureLost,
  messageStreamToolStopAsEnd,
  nth,
  stopped as streamStopped,
} from "../message_stream/faults.ts";
import {
  asLatin1,
  block,
  delta,
  opening,
  out,
  reply,
} from "../../reference_gateway/change_messages.ts";
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Finding } from "../../suite/finding.ts";
import { messageStreams, scenariosOf, wholeReplies } from "./reply_content.ts";
import {
  compareBlocks,
  compareStop,
  compareText,
  compareTools,
  compareUsage,
  compareUsageDetails,
  forced,
} from "./compare_fixture.ts";

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";
const STREAM = "Message endpoint stream";

const STOP_ROW: Rule = {
  section: "States and transitions",
  text: "they describe why one reply ended and are not states that move.",
};
const TOOL_USE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
const UNCHANGED: Rule = {
  source:
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
  text:
    "Blocks keep their order; ids, thinking, signatures and redacted data reach the client unchanged, so that they can be sent back.",
};

const DETAILS: Rule = {
  source:
    "https://platform.claude.com/docs/en/api/messages, usage; .../build-with-claude/streaming, message_delta",
  text:
    "Cached input is reported separately and counted once, and a stream reports its input and its stop sequence as a whole reply does.",
};

/** One rule, judged on whole replies and on streams. */
interface Twin {
  readonly name: string;
  readonly rules: { readonly whole: Rule; readonly stream: Rule };
  readonly judge: (x: Exchange) => readonly Finding[];
  /** Mutants that the usual replies reveal. */
  readonly whole: Faults;
  readonly stream: Faults;
  /** Mutants that only rare and large replies reveal. */
  readonly rareWhole: Faults;
  readonly rareStream: Faults;
}

const TWINS: readonly Twin[] = [
  {
    name: "text-exact",
    rules: {
      whole: {
        section: "Equivalent fields between the two formats",
        text:
          "| Reply text | `content[0].text` | `choices[0].message.content` |",
      },
      stream: { section: STREAM, text: "Text arrives in `delta.text`" },
    },
    judge: compareText,
    whole: {
      "message-text-trimmed": wholeReply("messages", (body) =>
        withAt(
          body,
          "content.0.text",
          textAt(body, "content.0.text").slice(0, -1),
        )),
    },
    stream: {
      // One text delta is lost.
      "message-delta-lost": frames("messages", (data, { state }, frame) => {
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
      "message-deltas-swapped": frames("messages", (data, x, frame) => {
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
    rareWhole: {
      "message-text-latin1": block("text", (each) => ({
        ...each,
        text: asLatin1(textAt(each, "text").slice(0, 4096)) +
          textAt(each, "text").slice(4096),
      })),
      "message-text-escaped": block(
        "text",
        (each) => ({
          ...each,
          text: textAt(each, "text").replaceAll("<", "&lt;"),
        }),
      ),
      "message-text-cut": block(
        "text",
        (each) => ({ ...each, text: textAt(each, "text").slice(0, 65536) }),
      ),
      "message-blanks-collapsed": block(
        "text",
        (each) => ({
          ...each,
          text: textAt(each, "text").replace(/\s\s+/g, " "),
        }),
      ),
    },
    rareStream: {
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
    rules: {
      whole: {
        source: `${TOOL_USE}, the tool_use block`,
        text: "Name and input of a tool_use block are those of the model.",
      },
      stream: {
        source:
          "https://platform.claude.com/docs/en/build-with-claude/streaming, input JSON delta",
        text:
          "The fragments of partial_json, joined, are the input of the tool call.",
      },
    },
    judge: compareTools,
    whole: {
      "message-second-tool-lost": block(
        "tool_use",
        (each, index) => index === 0 ? each : undefined,
      ),
      // Calls are in another order.
      "message-tools-swapped": reply((body) => ({
        ...body,
        content: listAt(body, "content").toSorted((left, right) =>
          JSON.stringify(right).localeCompare(JSON.stringify(left))
        ),
      })),
      "message-tool-argument-lost": block(
        "tool_use",
        (each) => ({ ...each, input: {} }),
      ),
      "message-tool-renamed": block(
        "tool_use",
        (each) => ({ ...each, name: `functions.${textAt(each, "name")}` }),
      ),
    },
    stream: {
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
      "message-stream-second-tool-lost": frames("messages", (data, x) => {
        const tool = textAt(data, "content_block.type") === "tool_use";
        if (tool && nth(x, "calls") > 1) {
          x.state.set("lost", data["index"] ?? 0);
        }
        return x.state.has("lost") && data["index"] !== undefined
          ? undefined
          : data;
      }),
    },
    rareWhole: {
      "message-tool-input-ascii": block("tool_use", (each) => ({
        ...each,
        input: parseJson(
          JSON.stringify(each["input"]).replaceAll(/[^ -~]/g, "?"),
        ),
      })),
      "message-third-call-lost": block(
        "tool_use",
        (each, index) => index < 2 ? each : undefined,
      ),
      // Empty arguments are left out.
      "message-empty-arguments-lost": block("tool_use", (each) => ({
        ...each,
        input: Object.fromEntries(
          Object.entries(objectOf(each["input"])).filter(([, value]) =>
            value !== null && value !== "" && value !== false && value !== 0
          ),
        ),
      })),
    },
    rareStream: {
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
    rules: { whole: UNCHANGED, stream: UNCHANGED },
    judge: compareBlocks,
    whole: {
      "message-blocks-reversed": reply((body) => ({
        ...body,
        content: listAt(body, "content").toReversed(),
      })),
      "message-signature-lost": block("thinking", (
        each,
      ) => ({ ...each, signature: "" })),
      "message-redacted-lost": block("redacted_thinking", () => undefined),
      "message-tool-id-altered": block("tool_use", (
        each,
      ) => ({ ...each, id: `${textAt(each, "id")}x` })),
      "message-tool-ids-same": block("tool_use", (
        each,
      ) => ({ ...each, id: "toolu_1" })),
      "message-thinking-trimmed": block("thinking", (
        each,
      ) => ({ ...each, thinking: textAt(each, "thinking").slice(0, -1) })),
    },
    stream: {
      "message-stream-signature-lost": messageStreamSignatureLost,
      "message-stream-redacted-lost": opening(
        "redacted_thinking",
        (block) => ({ ...block, data: "" }),
      ),
      "message-stream-tool-id-altered": opening(
        "tool_use",
        (block) => ({ ...block, id: `${textAt(block, "id")}x` }),
      ),
      "message-stream-tool-ids-same": opening(
        "tool_use",
        (block) => ({ ...block, id: "toolu_1" }),
      ),
    },
    rareWhole: shared("message-thinking-trimmed"),
    rareStream: shared("message-stream-tool-id-altered"),
  },
  {
    name: "stop-exact",
    rules: { whole: STOP_ROW, stream: STOP_ROW },
    judge: compareStop,
    whole: {
      "message-max-tokens-as-end": stopped("max_tokens", {
        stop_reason: "end_turn",
      }),
      "message-tool-stop-as-end": stopped("tool_use", {
        stop_reason: "end_turn",
      }),
      "message-sequence-as-end": stopped("stop_sequence", {
        stop_reason: "end_turn",
        stop_sequence: null,
      }),
      "message-sequence-other": stopped("stop_sequence", {
        stop_sequence: "STOP",
      }),
      "message-end-as-max-tokens": stopped("end_turn", {
        stop_reason: "max_tokens",
      }),
    },
    stream: {
      "message-stream-max-tokens-as-end": streamStopped("max_tokens", {
        stop_reason: "end_turn",
      }),
      "message-stream-tool-stop-as-end": messageStreamToolStopAsEnd,
      "message-stream-sequence-as-end": streamStopped("stop_sequence", {
        stop_reason: "end_turn",
        stop_sequence: null,
      }),
    },
    rareWhole: shared("message-end-as-max-tokens"),
    rareStream: shared("message-stream-tool-stop-as-end"),
  },
  {
    name: "usage-exact",
    rules: {
      whole: {
        section: REPLY,
        text:
          "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",
      },
      stream: {
        section: STREAM,
        text: "Final output token count arrives here, not in message_start",
      },
    },
    judge: compareUsage,
    whole: {
      "message-input-off-by-one": counted("input_tokens", (count) => count + 1),
      "message-output-off-by-one": counted(
        "output_tokens",
        (count) => count - 1,
      ),
      "message-output-0": counted("output_tokens", () => 0),
      // Input and output are swapped.
      "message-usage-swapped": reply((body) => ({
        ...body,
        usage: {
          input_tokens: numberAt(body, "usage.output_tokens") ?? 0,
          output_tokens: numberAt(body, "usage.input_tokens") ?? 0,
        },
      })),
    },
    stream: {
      "message-stream-output-off-by-one": streamCounted(
        "output_tokens",
        (count) => count + 1,
      ),
      "message-stream-output-1": messageStreamOutput1,
    },
    rareWhole: {
      "message-cache-counted-twice": counted(
        "input_tokens",
        (count, body) =>
          count + (numberAt(body, "usage.cache_read_input_tokens") ?? 0),
      ),
    },
    rareStream: shared("message-stream-output-off-by-one"),
  },
  {
    name: "details-exact",
    rules: { whole: DETAILS, stream: DETAILS },
    judge: compareUsageDetails,
    whole: shared("message-input-off-by-one"),
    stream: {
      "message-stream-input-off-by-one": streamCounted(
        "input_tokens",
        (count) => count + 1,
      ),
      "message-stream-sequence-null": streamStopped("stop_sequence", {
        stop_sequence: null,
      }),
    },
    rareWhole: {
      "message-cache-read-lost": counted("cache_read_input_tokens", () => 0),
    },
    rareStream: {
      "message-stream-cache-lost": streamCounted(
        "cache_read_input_tokens",
        () => 0,
      ),
    },
  },
];

function twins(form: "whole" | "stream"): Check[] {
  const area = form === "whole" ? "message_reply" : "message_stream";
  const exchanges = form === "whole" ? wholeReplies : messageStreams;
  return TWINS.flatMap((twin) => {
    const rule = twin.rules[form];
    const check = (
      id: string,
      reads: readonly string[],
      faults: Faults,
    ): Check => ({
      id,
      rule,
      level: "section" in rule ? "documented" : "convention",
      mode: "replay",
      reads,
      judge: (e) => exchanges(e).flatMap(twin.judge),
      faults,
    });
    return [
      check(
        `${area}.${twin.name}`,
        ["text", ...scenariosOf(form, "forms", "blocks")],
        twin[form],
      ),
      check(
        `${area}.${twin.name}-rare`,
        scenariosOf(form, "oddities", "sizes"),
        form === "whole" ? twin.rareWhole : twin.rareStream,
      ),
    ];
  });
}

/** Part of `MESSAGE_REPLY_CHECKS`. */
export const MESSAGE_REPLY_EXACT_CHECKS: readonly Check[] = [
  ...twins("whole"),
  {
    id: "message_reply.forced-stops",
    rule: STOP_ROW,
    level: "documented",
    mode: "both",
    reads: scenariosOf("whole", "forms"),
    judge: (e) =>
      e.matching("messages/*/whole/*").flatMap((x) => forced(x, e.mode)),
    faults: shared("message-max-tokens-as-end", "message-tool-stop-as-end"),
  },
];

/** Part of `MESSAGE_STREAM_CHECKS`. */
export const MESSAGE_STREAM_EXACT_CHECKS: readonly Check[] = [
  ...twins("stream"),
  {
    id: "message_stream.forced-stops",
    rule: STOP_ROW,
    level: "documented",
    mode: "both",
    reads: scenariosOf("stream", "forms"),
    judge: (e) =>
      e.matching("messages/*/stream/*").flatMap((x) => forced(x, e.mode)),
    faults: shared(
      "message-stream-max-tokens-as-end",
      "message-stream-tool-stop-as-end",
    ),
  },
];
