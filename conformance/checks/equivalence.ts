/** Checks of the area `equivalence`: what one format says, the other says too. */
import { contentOf, tokensOf, words } from "../evidence/content.ts";
import { at, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../suite/finding.ts";
import { AGAIN_CHECKS } from "./equivalence_again.ts";
import { PAIR_CHECKS } from "./equivalence_pairs.ts";

const SECTION = "Equivalent fields between the two formats";

/** Every reply of the message endpoint with the chat reply of the same route and form. */
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
    return fact(
      expected === actual,
      `${what} on both endpoints`,
      `as in ${messages.label}: ${expected}`,
      actual,
      chat,
    );
  });
}

/** What the chat format calls each stop reason of the message format. */
const FINISH: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
};

/** The stop cause in the chat format's words; "" when none is told. */
function finishOf({ endpoint, frames, json }: Exchange): string {
  const values = [json, ...frames.map((frame) => frame.json)];
  if (endpoint === "chat") {
    return values.map((value) => textAt(value, "choices.0.finish_reason"))
      .find((reason) => reason !== "") ?? "";
  }
  const reason = values.map((value) =>
    at(value, "delta.stop_reason") ?? at(value, "stop_reason")
  ).find((told) => typeof told === "string");
  return typeof reason === "string" ? FINISH[reason] ?? reason : "";
}

/** The checks. */
export const EQUIVALENCE_CHECKS: readonly Check[] = [
  {
    id: "equivalence.text",
    rule: {
      section: SECTION,
      text: "| Reply text | `content[0].text` | `choices[0].message.content` |",
    },
    level: "documented",
    mode: "replay",
    reads: ["text"],
    judge: (e) => same(e, "text", (x) => words(contentOf(x))),
    mutants: ["chat-loses-last-text"],
  },
  {
    id: "equivalence.tools",
    rule: {
      source:
        "Both formats carry tool calls; the same reply calls the same tools",
      text:
        "Names, arguments and order of the tool calls are the same on both endpoints.",
    },
    level: "convention",
    mode: "replay",
    reads: ["pair-tools"],
    judge: (e) => same(e, "tool calls", (x) => words(contentOf(x))),
    mutants: ["chat-second-tool-lost"],
  },
  {
    id: "equivalence.tokens",
    rule: {
      section: SECTION,
      text: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",
    },
    level: "documented",
    mode: "replay",
    reads: ["text"],
    judge: (e) =>
      same(e, "tokens", (x) => JSON.stringify(tokensOf(contentOf(x)))),
    mutants: ["chat-input-doubled"],
  },
  {
    id: "equivalence.stop",
    rule: {
      section: SECTION,
      text: "| Stop cause | `stop_reason` | `finish_reason` |",
    },
    level: "documented",
    mode: "replay",
    reads: ["pair-tools"],
    judge: (e) => same(e, "stop cause", finishOf),
    mutants: ["chat-tool-stop-lost"],
  },
  ...PAIR_CHECKS,
  ...AGAIN_CHECKS,
];
