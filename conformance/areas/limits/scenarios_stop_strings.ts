/**
 * The same request with and without stop strings: the reply without them shows where the others
 * must stop.
 */
import { firstRoute, plainRequest } from "../../suite/requests.ts";
import type { Session } from "../../suite/session.ts";
import { calls, type Scenario } from "../../suite/scenario.ts";
import type { Route } from "../../suite/route.ts";

/**
 * A string that the reply reaches, and one that it does not. The one of the fixtures is another, so
 * that no constant is right in both.
 */
export const STOPS = { hit: "OMEGA", missed: "QQZQQ" } as const;

const WORDS = `Repeat this line exactly: alpha beta gamma ${STOPS.hit} delta`;

function send(
  session: Session,
  route: Route,
  form: string,
  more: Parameters<typeof plainRequest>[4],
) {
  return session.send(plainRequest("messages", route, form, WORDS, {
    temperature: 0,
    ...more,
  }));
}

const STOP_AGAIN: Scenario = {
  name: "stop-again",
  about:
    "The same line to repeat: without stop strings, and with two, where the first or the last hits",
  mode: "both",
  cost: calls(3, 64),
  // No fixture is named: the replay upstream repeats the prompt up to a stop string.
  async play(session) {
    const route = firstRoute(session, "messages");
    const { hit, missed } = STOPS;
    await send(session, route, "open", {});
    await send(session, route, "stream", {
      stop_sequences: [hit, missed],
      stream: true,
    });
    await send(session, route, "whole", { stop_sequences: [missed, hit] });
  },
};

export const STOP_STRING_SCENARIOS: readonly Scenario[] = [STOP_AGAIN];
