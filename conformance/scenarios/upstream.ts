/** Scenarios of the area `upstream`: upstreams that refuse, break off, or fail in the middle. */
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

/** Statuses that an upstream refuses with. */
export const STATUSES = [400, 401, 429, 500, 503] as const;

/** Fixtures that end a stream before its end. */
export const BREAKS = ["cut", "cut-chunk", "reset", "error-mid"] as const;

const REFUSALS: Scenario = {
  name: "upstream-refusals",
  about: "Each error status of the upstream, whole and streamed",
  mode: "replay",
  cost: perRoute(2 * STATUSES.length, 64),
  async play(lab) {
    for (const endpoint of GENERATION) {
      for (const route of lab.routes(endpoint)) {
        await Promise.all(STATUSES.flatMap((code) => {
          const words = () => lab.prompt(`status?code=${code}`, "Say hello.");
          return [
            lab.send(plainAsk(endpoint, route, `${code}-whole`, words())),
            lab.send(
              plainAsk(
                endpoint,
                route,
                `${code}-stream`,
                words(),
                streamed(endpoint),
              ),
            ),
          ];
        }));
      }
    }
  },
};

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
export const UPSTREAM_SCENARIOS: readonly Scenario[] = [REFUSALS, BROKEN_OFF];
