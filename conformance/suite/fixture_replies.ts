/** Scenarios that request fixtures on every route of an endpoint, whole, streamed, or both. */
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { JsonObject } from "@model-gateway/replay/json";
import {
  type Generation,
  plainRequest,
  streamed,
  toolsFor,
} from "./requests.ts";
import { calls, type Scenario } from "./scenario.ts";

export interface WantedFixture {
  /** Name of the fixture; the last part of the label. */
  readonly fixture: string;
  /** Prompt for a real model; absent when no prompt makes a real model reply like this. */
  readonly words?: string;
  readonly more?: JsonObject;
}

/** Fixtures that only the replay upstream can play. */
export function played(...fixtures: readonly string[]): WantedFixture[] {
  return fixtures.map((fixture) => ({ fixture }));
}

/** The definitions of the tools that a fixture calls. */
function toolsOf(endpoint: Generation, fixture: string): JsonObject {
  const names = (WRITTEN.get(fixture)?.content.tools ?? []).map(({ name }) =>
    name
  );
  return names.length === 0 ? {} : toolsFor(endpoint, [...new Set(names)]);
}

/** Labels are `ENDPOINT/ROUTE/whole/FIXTURE` and `ENDPOINT/ROUTE/stream/FIXTURE`. */
export function fixtureReplies(
  scenario: Pick<Scenario, "name" | "about" | "mode">,
  endpoint: Generation,
  wanted: readonly WantedFixture[],
  hows: readonly ("whole" | "stream")[] = ["whole", "stream"],
): Scenario {
  const live = wanted.filter(({ words }) => words !== undefined);
  return {
    ...scenario,
    cost: (profile) =>
      calls(hows.length * live.length * profile[endpoint].length, 128)(profile),
    async play(session) {
      const asked = session.mode === "replay" ? wanted : live;
      for (const route of session.routes(endpoint)) {
        await Promise.all(
          asked.flatMap(({ fixture, words = "Answer.", more }) =>
            hows.map((how) =>
              session.send(plainRequest(
                endpoint,
                route,
                `${how}/${fixture}`,
                session.prompt(fixture, words),
                {
                  ...toolsOf(endpoint, fixture),
                  ...more,
                  ...(how === "stream" ? streamed(endpoint) : {}),
                },
              ))
            )
          ),
        );
      }
    },
  };
}
