/** Checks of the area `message_reply` that compare with the fixture's content. */
import { messageReply, withAt } from "../../reference_gateway/change_reply.ts";
import { counted, stopped } from "./faults.ts";
import {
  type Check,
  checksWith,
  type Faults,
  type Rule,
  shared,
} from "../../suite/check.ts";
import { objectOf, parseJson } from "@model-gateway/replay/json";
import { asLatin1, block } from "../../reference_gateway/change_messages.ts";
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
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
export const STOP_ROW: Rule = {
  section: "States and transitions",
  text: "they describe why one reply ended and are not states that move.",
};
const TOOL_USE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
export const UNCHANGED: Rule = {
  source:
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
  text:
    "Blocks keep their order; ids, thinking, signatures and redacted data reach the client unchanged, so that they can be sent back.",
};
export const DETAILS: Rule = {
  source:
    "https://platform.claude.com/docs/en/api/messages, usage; .../build-with-claude/streaming, message_delta",
  text:
    "Cached input is reported separately and counted once, and a stream reports its input and its stop sequence as a whole reply does.",
};

/** A comparison of a reply with its fixture. */
export interface Comparison {
  readonly name: string;
  readonly rule: Rule;
  readonly judge: (x: Exchange) => readonly Finding[];
  /** Faults that the usual replies reveal. */
  readonly usual: Faults;
  /** Faults that only rare and large replies reveal. */
  readonly rare: Faults;
}

/** Each comparison twice: with the usual replies, and with rare and large ones. */
export function comparisons(
  area: string,
  form: "whole" | "stream",
  list: readonly Comparison[],
): readonly Check[] {
  return checksWith(
    { mode: "replay", of: form === "whole" ? wholeReplies : messageStreams },
    list.flatMap(({ name, rule, judge, usual, rare }) => [
      {
        id: `${area}.${name}`,
        rule,
        reads: ["text", ...scenariosOf(form, "forms", "blocks")],
        each: judge,
        faults: usual,
      },
      {
        id: `${area}.${name}-rare`,
        rule,
        reads: scenariosOf(form, "oddities", "sizes"),
        each: judge,
        faults: rare,
      },
    ]),
  );
}

export const MESSAGE_REPLY_EXACT_CHECKS: readonly Check[] = checksWith({}, [
  ...comparisons("message_reply", "whole", [
    {
      name: "text-exact",
      rule: {
        section: "Equivalent fields between the two formats",
        text:
          "| Reply text | `content[0].text` | `choices[0].message.content` |",
      },
      judge: compareText,
      usual: {
        "message-text-trimmed": messageReply((body) =>
          withAt(
            body,
            "content.0.text",
            textAt(body, "content.0.text").slice(0, -1),
          )
        ),
      },
      rare: {
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
    },
    {
      name: "tools-exact",
      rule: {
        source: `${TOOL_USE}, the tool_use block`,
        text: "Name and input of a tool_use block are those of the model.",
      },
      judge: compareTools,
      usual: {
        "message-second-tool-lost": block(
          "tool_use",
          (each, index) => index === 0 ? each : undefined,
        ),
        // Calls are in another order.
        "message-tools-swapped": messageReply((body) => ({
          ...body,
          content: listAt(body, "content").toSorted((left, right) =>
            JSON.stringify(right).localeCompare(JSON.stringify(left))
          ),
        })),
        "message-tool-argument-lost": block("tool_use", { input: {} }),
        "message-tool-renamed": block(
          "tool_use",
          (each) => ({ ...each, name: `functions.${textAt(each, "name")}` }),
        ),
      },
      rare: {
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
    },
    {
      name: "blocks-exact",
      rule: UNCHANGED,
      judge: compareBlocks,
      usual: {
        "message-blocks-reversed": messageReply((body) => ({
          ...body,
          content: listAt(body, "content").toReversed(),
        })),
        "message-signature-lost": block("thinking", { signature: "" }),
        "message-redacted-lost": block("redacted_thinking", () => undefined),
        "message-tool-id-altered": block("tool_use", (
          each,
        ) => ({ ...each, id: `${textAt(each, "id")}x` })),
        "message-tool-ids-same": block("tool_use", { id: "toolu_1" }),
        "message-thinking-trimmed": block("thinking", (
          each,
        ) => ({ ...each, thinking: textAt(each, "thinking").slice(0, -1) })),
      },
      rare: shared("message-thinking-trimmed"),
    },
    {
      name: "stop-exact",
      rule: STOP_ROW,
      judge: compareStop,
      usual: {
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
      rare: shared("message-end-as-max-tokens"),
    },
    {
      name: "usage-exact",
      rule: {
        section: REPLY,
        text:
          "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",
      },
      judge: compareUsage,
      usual: {
        "message-input-off-by-one": counted(
          "input_tokens",
          (count) => count + 1,
        ),
        "message-output-off-by-one": counted(
          "output_tokens",
          (count) => count - 1,
        ),
        "message-output-0": counted("output_tokens", () => 0),
        // Input and output are swapped.
        "message-usage-swapped": messageReply((body) => ({
          ...body,
          usage: {
            input_tokens: numberAt(body, "usage.output_tokens") ?? 0,
            output_tokens: numberAt(body, "usage.input_tokens") ?? 0,
          },
        })),
      },
      rare: {
        "message-cache-counted-twice": counted(
          "input_tokens",
          (count, body) =>
            count + (numberAt(body, "usage.cache_read_input_tokens") ?? 0),
        ),
      },
    },
    {
      name: "details-exact",
      rule: DETAILS,
      judge: compareUsageDetails,
      usual: shared("message-input-off-by-one"),
      rare: {
        "message-cache-read-lost": counted("cache_read_input_tokens", () => 0),
      },
    },
  ]),
  {
    id: "message_reply.forced-stops",
    rule: STOP_ROW,
    mode: "both",
    reads: scenariosOf("whole", "forms"),
    matching: "messages/*/whole/*",
    each: (x, e) => forced(x, e.mode),
    faults: shared("message-max-tokens-as-end", "message-tool-stop-as-end"),
  },
]);
