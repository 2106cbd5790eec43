/** Scenarios of the area `message_reply`; the other reply and stream areas read `text`, too. */
import { requestOnAllRoutes } from "../../suite/requests.ts";
import { EXTRA_SCENARIOS } from "../replies/scenarios_extras.ts";
import { MESSAGE_FORM_SCENARIOS } from "./scenarios_forms.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";

export const TEXT_SCENARIO = "text";

const TEXT: Scenario = {
  name: TEXT_SCENARIO,
  about: "A short answer of plain text on both endpoints, whole and streamed",
  mode: "both",
  cost: perRoute(2, 64),
  play: (session) =>
    requestOnAllRoutes(session, "text", "Say hello in one short sentence."),
};

export const MESSAGE_REPLY_SCENARIOS: readonly Scenario[] = [
  TEXT,
  ...MESSAGE_FORM_SCENARIOS,
  EXTRA_SCENARIOS.messages,
];
