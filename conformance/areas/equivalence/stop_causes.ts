/** Judges the stop causes of the same reply on both endpoints. */
import { factOf, type Finding } from "../../suite/finding.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import { type Kind, PAIRED } from "./scenarios.ts";
import type { Evidence } from "../../suite/evidence.ts";

export function of(e: Evidence, fixture: string): readonly Exchange[] {
  return [
    ...e.replies(`*/*/${fixture}-whole`),
    ...e.streams(`*/*/${fixture}-stream`),
  ];
}

/** Fixtures with an unusual end in the chat dialect; other checks judge them. */
export const ENDS_OF_THEIR_OWN = ["role-repeated", "done-no-finish"] as const;

/** The pairs of names that the formats' documentation allows for each stop cause. */
const PAIRS: Readonly<Record<StopCause, readonly string[]>> = {
  end: ["end_turn/stop"],
  stop_sequence: ["stop_sequence/stop"],
  max_tokens: ["max_tokens/length"],
  context_window: ["max_tokens/length", "model_context_window_exceeded/length"],
  tool_use: ["tool_use/tool_calls"],
  pause: [
    "pause_turn/length",
    "max_tokens/length",
    "pause_turn/stop",
    "end_turn/stop",
  ],
  refusal: [
    "refusal/content_filter",
    "refusal/stop",
    "end_turn/content_filter",
    "end_turn/stop",
  ],
  other: ["max_tokens/length", "end_turn/stop"],
};

/** Fixtures whose vendor names another cause than its reply shows: a gateway may pass on either. */
const PAIRS_OF: Readonly<Record<string, readonly string[]>> = {
  "stop-with-tools": ["tool_use/tool_calls", "tool_use/stop"],
  "refusal": PAIRS.refusal,
};

/** The stop cause as written: "" when there is none, "+" between two. */
export function stopOf(x: Exchange): string {
  const values = x.frames.length === 0
    ? [x.json]
    : x.frames.map(({ json }) => json);
  const paths = x.endpoint === "chat"
    ? ["choices.0.finish_reason"]
    : ["stop_reason", "delta.stop_reason"];
  return values.flatMap((value) =>
    paths.map((path) => textAt(value, path)).filter((reason) => reason !== "")
  ).join("+");
}

export function stopPairs(e: Evidence, kind: Kind): Finding[] {
  return PAIRED[kind].filter((fixture) =>
    !ENDS_OF_THEIR_OWN.some((own) => own === fixture)
  ).flatMap((fixture) =>
    of(e, fixture).filter(({ endpoint }) => endpoint === "messages").map(
      (messages) => {
        const label = messages.label.replace("messages/", "chat/");
        const chat = e.exchange(label);
        const pair = `${stopOf(messages)}/${stopOf(chat)}`;
        const { stop } = fixtureContent(fixture, messages.via);
        const allowed = PAIRS_OF[fixture] ?? PAIRS[stop];
        // An undocumented cause may be passed on unchanged.
        const open = stop === "other" && /^[^/+]+\/[^/+]+$/.test(pair);
        return factOf(
          `stop_reason/finish_reason of ${messages.label}`,
          pair,
          chat,
        ).mustBe(allowed.join(" or "), open || allowed.includes(pair));
      },
    )
  );
}
