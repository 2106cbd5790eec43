/** Scenarios of one request, or of one per fixture, on each route of an endpoint. */
import type { JsonObject } from "@model-gateway/replay/json";
import { type Generation, plainRequest, streamed } from "./requests.ts";
import { calls, type Scenario } from "./scenario.ts";

const WORDS = "Say hello in one short sentence.";

/** The fixture `text`, requested once for each form with its members of the body. */
export function eachForm(
  scenario: Pick<Scenario, "name" | "about">,
  endpoint: Generation,
  forms: Readonly<Record<string, JsonObject>>,
): Scenario {
  const count = Object.keys(forms).length;
  return {
    ...scenario,
    mode: "both",
    cost: (profile) => calls(count * profile[endpoint].length, 64)(profile),
    play: async (session) => {
      await Promise.all(
        session.routes(endpoint).flatMap((route) =>
          Object.entries(forms).map(([form, more]) =>
            session.send(plainRequest(
              endpoint,
              route,
              form,
              session.prompt("text", WORDS),
              more,
            ))
          )
        ),
      );
    },
  };
}

/** Streams of fixtures in which the upstream fails; the fixture is the last part of the label. */
export function failingStreams(
  scenario: Pick<Scenario, "name" | "about">,
  endpoint: Generation,
  fixtures: readonly string[],
): Scenario {
  return {
    ...scenario,
    mode: "replay",
    cost: (profile) => ({
      requests: fixtures.length * profile[endpoint].length,
      inputTokens: 0,
      outputTokens: 0,
    }),
    async play(session) {
      for (const route of session.routes(endpoint)) {
        await Promise.all(fixtures.map((fixture) =>
          session.send(plainRequest(
            endpoint,
            route,
            fixture,
            session.prompt(fixture, "Say hello."),
            streamed(endpoint),
          ))
        ));
      }
    },
  };
}
