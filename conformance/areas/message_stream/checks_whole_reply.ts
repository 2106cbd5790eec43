/**
 * Checks of the area `message_stream`: streams compared with whole replies, long streams, and
 * streams that fail.
 */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { putIn } from "../../faults/change_messages.ts";
import { factOf, offered } from "../../suite/finding.ts";
import { ODD_UPSTREAM_CHECKS } from "./checks_odd_upstreams.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { at } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  fixtureOf,
  messageStreams,
  scenariosOf,
  tokens,
  wholeReplies,
} from "../../endpoints/read_messages.ts";
import { splitStream } from "../../endpoints/event_order.ts";

const ALL = ["forms", "blocks", "oddities", "sizes"] as const;
const PAIRS = [
  TEXT_SCENARIO,
  ...scenariosOf("whole", ...ALL),
  ...scenariosOf("stream", ...ALL),
];

/** The input tokens in the first event of a stream. */
function startInput(x: Exchange): unknown {
  return at(splitStream(x).starts[0]?.json, "message.usage.input_tokens");
}

export const MESSAGE_STREAM_WHOLE_REPLY_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  of: messageStreams,
}, [
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
      return offered(
        messageStreams(e).filter((x) =>
          x.via === "messages" &&
          !["server-tool", "usage-late"].includes(fixtureOf(x))
        ),
        "has the message format",
      )
        .map((x) => {
          const other = whole.find(({ label }) =>
            label === x.label.replace("/stream", "/whole")
          );
          const expected = at(other?.json, "usage.input_tokens");
          return factOf("message.usage.input_tokens", startInput(x), x, 0)
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
      return factOf("message.usage.output_tokens", start, x, 0).mustBe(
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
  ...ODD_UPSTREAM_CHECKS,
]);
