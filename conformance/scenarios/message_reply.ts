/** Scenarios of the area `message_reply`; `text` also serves the other three reply and stream areas. */
import { askEverywhere } from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

const TEXT: Scenario = {
  name: "text",
  about: "A short answer of plain text on both endpoints, whole and streamed",
  mode: "both",
  cost: perRoute(2, 64),
  play: (lab) => askEverywhere(lab, "text", "Say hello in one short sentence."),
};

/** The scenarios. */
export const MESSAGE_REPLY_SCENARIOS: readonly Scenario[] = [TEXT];
