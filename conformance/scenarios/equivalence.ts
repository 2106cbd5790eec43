/** Scenarios of the area `equivalence`: the same fixture through both endpoints. */
import { askEverywhere, type Generation, toolsFor } from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

const TOOLS = (endpoint: Generation) =>
  toolsFor(endpoint, ["get_weather", "get_time"]);

const PAIR_TOOLS: Scenario = {
  name: "pair-tools",
  about: "Two parallel tool calls through both endpoints, whole and streamed",
  mode: "replay",
  cost: perRoute(2, 64),
  play: (lab) =>
    askEverywhere(lab, "tool-parallel", "What is the weather?", TOOLS),
};

/** The scenarios. */
export const EQUIVALENCE_SCENARIOS: readonly Scenario[] = [PAIR_TOOLS];
