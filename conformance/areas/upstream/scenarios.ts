/** Scenarios of the area `upstream`: upstreams that refuse, break off, or fail in the middle. */
import { GENERATION, plainRequest, streamed } from "../../suite/requests.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { REQUEST_SCENARIOS } from "./scenarios_request.ts";
import { ODD_REFUSALS, REDIRECTED, REFUSALS } from "./scenarios_refusals.ts";

export const BROKEN_OFF_NAME = "broken-off";

export const BREAKS = ["cut", "cut-chunk", "reset", "error-mid"] as const;

const BROKEN_OFF: Scenario = {
  name: BROKEN_OFF_NAME,
  about: "Streams of the upstream that break off, each in another way",
  mode: "replay",
  cost: perRoute(BREAKS.length, 64),
  async play(session) {
    for (const endpoint of GENERATION) {
      for (const route of session.routes(endpoint)) {
        await Promise.all(BREAKS.map((fixture) =>
          session.send(plainRequest(
            endpoint,
            route,
            fixture,
            session.prompt(fixture, "Say hello."),
            streamed(endpoint),
          ))
        ));
      }
    }
  },
};

export const UPSTREAM_SCENARIOS: readonly Scenario[] = [
  REFUSALS,
  ODD_REFUSALS,
  REDIRECTED,
  BROKEN_OFF,
  ...REQUEST_SCENARIOS,
];
