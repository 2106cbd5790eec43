/** Scenarios of the area `upstream`: upstreams that refuse, break off, or fail in the middle. */
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";
import { SENT } from "./sent_upstream.ts";
import { ODD_REFUSALS, REDIRECTED, REFUSALS } from "./upstream_refusals.ts";

/** Fixtures that end a stream before its end. */
export const BREAKS = ["cut", "cut-chunk", "reset", "error-mid"] as const;

const BROKEN_OFF: Scenario = {
  name: "broken-off",
  about:
    "Streams of the upstream that stop before their end, each in another way",
  mode: "replay",
  cost: perRoute(BREAKS.length, 64),
  async play(lab) {
    for (const endpoint of GENERATION) {
      for (const route of lab.routes(endpoint)) {
        await Promise.all(BREAKS.map((fixture) =>
          lab.send(plainAsk(
            endpoint,
            route,
            fixture,
            lab.prompt(fixture, "Say hello."),
            streamed(endpoint),
          ))
        ));
      }
    }
  },
};

/** The scenarios. */
export const UPSTREAM_SCENARIOS: readonly Scenario[] = [
  REFUSALS,
  ODD_REFUSALS,
  REDIRECTED,
  BROKEN_OFF,
  ...SENT,
];
