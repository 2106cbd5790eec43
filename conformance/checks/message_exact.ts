/** Checks of the areas `message_reply` and `message_stream` that know the answer, each for whole replies and for streams. */
import type { Exchange } from "../evidence/exchange.ts";
import type { Check, Rule } from "../suite/check.ts";
import type { Finding } from "../suite/finding.ts";
import {
  messageStreams,
  scenariosOf,
  wholeReplies,
} from "./message_content.ts";
import {
  blocksTold,
  forced,
  stopTold,
  textTold,
  toolsTold,
  usageTold,
} from "./message_told.ts";

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";
const STREAM = "Message endpoint stream";

const STOP_ROW: Rule = {
  section: REPLY,
  text:
    "| stop_reason | string | One of `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` |",
};
const DELTA_ROW: Rule = {
  section: STREAM,
  text: "| message_delta | `delta.stop_reason`, `usage.output_tokens` |",
};
const UNCHANGED: Rule = {
  source:
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
  text:
    "Blocks keep their order; ids, thinking, signatures and redacted data reach the caller unchanged, so that they can be sent back.",
};

/** One judgement of whole replies and of streams. */
interface Twin {
  readonly name: string;
  readonly rules: { readonly whole: Rule; readonly stream: Rule };
  readonly judge: (x: Exchange) => readonly Finding[];
  /** Mutants of the usual replies. */
  readonly whole: readonly string[];
  readonly stream: readonly string[];
  /** Mutants that only rare and large replies show. */
  readonly rareWhole: readonly string[];
  readonly rareStream: readonly string[];
}

const TWINS: readonly Twin[] = [
  {
    name: "text-exact",
    rules: {
      whole: {
        section: REPLY,
        text: "Text blocks have `type` = `text` and a `text` string.",
      },
      stream: { section: STREAM, text: "Text arrives in `delta.text`" },
    },
    judge: textTold,
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
      whole: { section: REPLY, text: "Tool calls have `type` = `tool_use`." },
      stream: {
        source:
          "https://platform.claude.com/docs/en/build-with-claude/streaming, input JSON delta",
        text:
          "The fragments of partial_json, joined, are the input of the tool call.",
      },
    },
    judge: toolsTold,
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
    judge: blocksTold,
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
    rules: { whole: STOP_ROW, stream: DELTA_ROW },
    judge: stopTold,
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
      "message-stream-sequence-null",
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
    judge: usageTold,
    whole: [
      "message-input-off-by-one",
      "message-output-off-by-one",
      "message-output-0",
      "message-usage-swapped",
    ],
    stream: [
      "message-stream-output-off-by-one",
      "message-stream-output-1",
      "message-stream-input-off-by-one",
    ],
    rareWhole: ["message-cache-counted-twice", "message-cache-read-lost"],
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

/** The checks of whole replies. */
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

/** The checks of streams. */
export const MESSAGE_STREAM_EXACT_CHECKS: readonly Check[] = [
  ...twins("stream"),
  {
    id: "message_stream.forced-stops",
    rule: DELTA_ROW,
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
