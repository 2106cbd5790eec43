/** Scenarios of the area `message_stream`; `message_reply` reads them too. */
import type { Scenario } from "../suite/scenario.ts";
import { MESSAGE_FORM_SCENARIOS } from "./message_forms.ts";

/** The scenarios. */
export const MESSAGE_STREAM_SCENARIOS: readonly Scenario[] =
  MESSAGE_FORM_SCENARIOS;
