/** Checks of the area `equivalence`: both formats carry the same content. */
import { changeParts, changeReplies } from "../../faults/change_hooks.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { factOf, type Finding, NotTestable } from "../../suite/finding.ts";
import { chatInputDoubled } from "./faults.ts";
import { contentOf, textAndCalls, tokensOf } from "../../evidence/content.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { REPETITION_CHECKS } from "./checks_repetition.ts";
import { FIXTURE_CHECKS } from "./checks_fixtures.ts";

const SECTION = "Equivalent fields between the two formats";

/** Pairs each reply of the message endpoint with the chat reply of the same route and form. */
function pairs(e: Evidence): readonly (readonly [Exchange, Exchange])[] {
  const whole = e.replies("messages/*/whole");
  const streams = e.streams("messages/*/stream");
  return [...whole, ...streams].map((messages) => {
    const label = messages.label.replace("messages/", "chat/");
    const [chat] = label.endsWith("whole")
      ? e.replies(label)
      : e.streams(label);
    if (chat === undefined) throw new NotTestable(`no exchange ${label}`);
    return [messages, chat];
  });
}

function same(
  e: Evidence,
  what: string,
  read: (exchange: Exchange) => string,
): Finding[] {
  return pairs(e).map(([messages, chat]) => {
    const expected = read(messages);
    const actual = read(chat);
    return factOf(`${what} on both endpoints`, actual, chat).mustBe(
      `as in ${messages.label}: ${expected}`,
      expected === actual,
    );
  });
}

/** The chat format's name of each stop reason of the message format. */
const FINISH: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
};

/** The stop cause in the chat format's words; "" when the reply has none. */
function finishOf({ endpoint, frames, json }: Exchange): string {
  const values = [json, ...frames.map((frame) => frame.json)];
  if (endpoint === "chat") {
    return values.map((value) => textAt(value, "choices.0.finish_reason"))
      .find((reason) => reason !== "") ?? "";
  }
  const reason = values.map((value) =>
    at(value, "delta.stop_reason") ?? at(value, "stop_reason")
  ).find((reason) => typeof reason === "string");
  return typeof reason === "string" ? FINISH[reason] ?? reason : "";
}

export const EQUIVALENCE_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "replay",
}, [
  {
    id: "equivalence.text",
    rule: "| Reply text | `content[0].text` | `choices[0].message.content` |",
    reads: [TEXT_SCENARIO],
    judge: (e) => same(e, "text", (x) => textAndCalls(contentOf(x))),
    faults: {
      "chat-loses-last-text": changeParts(
        "text",
        (part) => ({ ...part, text: part.text.replace(".", "") }),
        { endpoint: "chat" },
      ),
    },
  },
  {
    id: "equivalence.tools",
    source:
      "Both formats carry tool calls; the same reply calls the same tools",
    rule:
      "Names, arguments and order of the tool calls are the same on both endpoints.",
    reads: ["pair-tools"],
    judge: (e) => same(e, "tool calls", (x) => textAndCalls(contentOf(x))),
    faults: {
      "chat-second-tool-lost": {
        part: (part, { endpoint, state }) => {
          if (endpoint !== "chat") return [part];
          if (part.type === "tool" && !state.has("call")) {
            state.set("call", part.call);
          }
          const later = (part.type === "tool" || part.type === "args") &&
            part.call !== state.get("call");
          return later ? [] : [part];
        },
      },
    },
  },
  {
    id: "equivalence.tokens",
    rule: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",
    reads: [TEXT_SCENARIO],
    judge: (e) =>
      same(e, "tokens", (x) => JSON.stringify(tokensOf(contentOf(x)))),
    faults: { "chat-input-doubled": chatInputDoubled },
  },
  {
    id: "equivalence.stop",
    rule: "| Stop cause | `stop_reason` | `finish_reason` |",
    reads: ["pair-tools"],
    judge: (e) => same(e, "stop cause", finishOf),
    faults: {
      "chat-tool-stop-lost": changeReplies(
        { endpoint: "chat" },
        (reply) => ({
          body: JSON.parse(
            JSON.stringify(reply.body).replace('"tool_calls"}', '"stop"}'),
          ),
        }),
      ),
    },
  },
  ...FIXTURE_CHECKS,
  ...REPETITION_CHECKS,
]);
