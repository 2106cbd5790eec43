/**
 * Checks of the areas `message_reply` and `message_stream` that compare with the fixture's content,
 * each for whole replies and for streams.
 */
import type { Exchange } from "../../evidence/exchange.ts";
import type { Check, Rule } from "../../suite/check.ts";
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
  readonly whole: readonly string[];
  readonly stream: readonly string[];
  /** Mutants that only rare and large replies reveal. */
  readonly rareWhole: readonly string[];
  readonly rareStream: readonly string[];
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
    whole: ["message-text-trimmed"],
    stream: [
      "message-delta-lost",
      "message-delta-twice",
      "message-deltas-swapped",
      "message-delta-trimmed",
    ],
    rareWhole: [
      "message-text-latin1",
      "message-text-escaped",
      "message-text-cut",
      "message-blanks-collapsed",
    ],
    rareStream: ["message-delta-latin1", "message-long-stream-capped"],
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
    whole: [
      "message-second-tool-lost",
      "message-tools-swapped",
      "message-tool-argument-lost",
      "message-tool-renamed",
    ],
    stream: [
      "message-fragment-lost",
      "message-fragment-twice",
      "message-stream-tool-renamed",
      "message-stream-second-tool-lost",
    ],
    rareWhole: [
      "message-tool-input-ascii",
      "message-third-call-lost",
      "message-empty-arguments-lost",
    ],
    rareStream: ["message-fragment-latin1"],
  },
  {
    name: "blocks-exact",
    rules: { whole: UNCHANGED, stream: UNCHANGED },
    judge: compareBlocks,
    whole: [
      "message-blocks-reversed",
      "message-signature-lost",
      "message-redacted-lost",
      "message-tool-id-altered",
      "message-tool-ids-same",
      "message-thinking-trimmed",
    ],
    stream: [
      "message-stream-signature-lost",
      "message-stream-redacted-lost",
      "message-stream-tool-id-altered",
      "message-stream-tool-ids-same",
    ],
    rareWhole: ["message-thinking-trimmed"],
    rareStream: ["message-stream-tool-id-altered"],
  },
  {
    name: "stop-exact",
    rules: { whole: STOP_ROW, stream: STOP_ROW },
    judge: compareStop,
    whole: [
      "message-max-tokens-as-end",
      "message-tool-stop-as-end",
      "message-sequence-as-end",
      "message-sequence-other",
      "message-end-as-max-tokens",
    ],
    stream: [
      "message-stream-max-tokens-as-end",
      "message-stream-tool-stop-as-end",
      "message-stream-sequence-as-end",
    ],
    rareWhole: ["message-end-as-max-tokens"],
    rareStream: ["message-stream-tool-stop-as-end"],
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
    whole: [
      "message-input-off-by-one",
      "message-output-off-by-one",
      "message-output-0",
      "message-usage-swapped",
    ],
    stream: [
      "message-stream-output-off-by-one",
      "message-stream-output-1",
    ],
    rareWhole: ["message-cache-counted-twice"],
    rareStream: ["message-stream-output-off-by-one"],
  },
  {
    name: "details-exact",
    rules: { whole: DETAILS, stream: DETAILS },
    judge: compareUsageDetails,
    whole: ["message-input-off-by-one"],
    stream: ["message-stream-input-off-by-one", "message-stream-sequence-null"],
    rareWhole: ["message-cache-read-lost"],
    rareStream: ["message-stream-cache-lost"],
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
      mutants: readonly string[],
    ): Check => ({
      id,
      rule,
      level: "section" in rule ? "documented" : "convention",
      mode: "replay",
      reads,
      judge: (e) => exchanges(e).flatMap(twin.judge),
      mutants,
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
    mutants: ["message-max-tokens-as-end", "message-tool-stop-as-end"],
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
    mutants: [
      "message-stream-max-tokens-as-end",
      "message-stream-tool-stop-as-end",
    ],
  },
];
