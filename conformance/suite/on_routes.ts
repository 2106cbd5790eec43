/** Makes the same requests on all routes of both generation endpoints. */
import { GENERATION, type Generation } from "./requests.ts";
import type { Session } from "./session.ts";
import type { Route } from "./route.ts";

/** Makes the requests of one route concurrently, route after route. */
export async function onRoutes(
  session: Session,
  play: (endpoint: Generation, route: Route) => readonly Promise<unknown>[],
): Promise<void> {
  for (const endpoint of GENERATION) {
    for (const route of session.routes(endpoint)) {
      await Promise.all(play(endpoint, route));
    }
  }
}
