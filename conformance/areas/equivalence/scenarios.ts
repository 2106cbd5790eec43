/** Scenarios of the area `equivalence`: the same fixtures through both endpoints. */
import {
  type Generation,
  requestOnAllRoutes,
  toolsFor,
} from "../../suite/requests.ts";
import { bothForms, requestFixtures } from "../../suite/all_routes.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { REPETITION_SCENARIOS } from "./scenarios_repetition.ts";

const TOOLS = (endpoint: Generation) =>
  toolsFor(endpoint, ["get_weather", "get_time"]);

const PAIR_TOOLS: Scenario = {
  name: "pair-tools",
  about: "Two parallel tool calls through both endpoints, whole and streamed",
  mode: "replay",
  cost: perRoute(2, 64),
  play: (session) =>
    requestOnAllRoutes(session, "tool-parallel", "What is the weather?", TOOLS),
};

/** Fixtures of each kind; the kind is the last part of the scenario's name. */
export const PAIRED = {
  texts: [
    "text",
    "text-unicode",
    "max-tokens",
    "stop-sequence",
    "empty",
    "usage-late",
    "usage-on-finish",
    "cache-usage",
    "reasoning-usage",
    "text-blanks",
  ],
  calls: [
    "tool",
    "tool-parallel",
    "tool-no-args",
    "tool-text",
    "text-tool-text",
    "tool-interleaved",
    "tool-unicode-args",
    "stop-with-tools",
    "tool-whole",
    "tool-odd-args",
    "tool-many",
  ],
  oddities: [
    "thinking",
    "thinking-tool",
    "redacted-thinking",
    "content-filter",
    "blocked",
    "refusal",
    "context-window",
    "continuation",
    "pause-turn",
    "unknown-event",
    "citations",
    "server-tool",
    "role-repeated",
    "done-no-finish",
    "first-frame-empty",
    "finish-every-frame",
    "text-long",
  ],
} as const;

export type Kind = keyof typeof PAIRED;

const OFFERED = ["get_weather", "get_time", "save_note"] as const;

function paired(kind: Kind, about: string): Scenario {
  return {
    name: `pair-${kind}`,
    about,
    mode: "replay",
    cost: perRoute(2 * PAIRED[kind].length, 64),
    play: (session) =>
      requestFixtures(
        session,
        () =>
          PAIRED[kind].flatMap((fixture) =>
            bothForms(fixture).map((wanted) => ({
              ...wanted,
              more: (endpoint: Generation) => toolsFor(endpoint, OFFERED),
            }))
          ),
      ),
  };
}

export const EQUIVALENCE_SCENARIOS: readonly Scenario[] = [
  PAIR_TOOLS,
  paired("texts", "Plain texts that stop in each documented way"),
  paired("calls", "Tool calls in every shape that vendors send"),
  paired("oddities", "Replies with content that one format cannot express"),
  ...REPETITION_SCENARIOS,
];
