/** Scenarios of the area `chat_stream`. */
import type { Scenario } from "../suite/scenario.ts";
import { CHAT_FORM_SCENARIOS } from "./chat_forms.ts";

/** The scenarios. */
export const CHAT_STREAM_SCENARIOS: readonly Scenario[] = CHAT_FORM_SCENARIOS;
