/** Scenarios of the area `tools`. */
import type { Scenario } from "../suite/scenario.ts";

/** The scenarios. */
export const TOOLS_SCENARIOS: readonly Scenario[] = [];
