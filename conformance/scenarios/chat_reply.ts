/** Scenarios of the area `chat_reply`. */
import type { Scenario } from "../suite/scenario.ts";

/** The scenarios. */
export const CHAT_REPLY_SCENARIOS: readonly Scenario[] = [];
