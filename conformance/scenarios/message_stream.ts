/** Scenarios of the area `message_stream`. */
import type { Scenario } from "../suite/scenario.ts";

/** The scenarios. */
export const MESSAGE_STREAM_SCENARIOS: readonly Scenario[] = [];
