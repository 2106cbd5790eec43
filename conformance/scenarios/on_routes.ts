/** Plays the same on all routes of both generation endpoints. */
import { GENERATION, type Generation } from "../suite/asks.ts";
import type { Lab } from "../suite/lab.ts";
import type { Route } from "../suite/scenario.ts";

/** Makes the requests of one route at once, route after route. */
export async function onRoutes(
  lab: Lab,
  play: (endpoint: Generation, route: Route) => readonly Promise<unknown>[],
): Promise<void> {
  for (const endpoint of GENERATION) {
    for (const route of lab.routes(endpoint)) {
      await Promise.all(play(endpoint, route));
    }
  }
}
