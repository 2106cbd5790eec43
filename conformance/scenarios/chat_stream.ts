/** Scenarios of the area `chat_stream`. */
import type { Scenario } from "../suite/scenario.ts";

/** The scenarios. */
export const CHAT_STREAM_SCENARIOS: readonly Scenario[] = [];
