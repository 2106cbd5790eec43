/** Scenarios about the pace of the optional endpoints' streams: `LABEL/gated`, `LABEL/left`. */
import type { DialectName } from "@model-gateway/replay/parse_request";
import {
  contentCost,
  contentRequest,
  contents,
} from "../../suite/content_requests.ts";
import type { Feature, Route } from "../../suite/route.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";
import type { TestRequest } from "../../suite/test_request.ts";
import { perRoute, requestOf } from "../responses/requests.ts";

/**
 * Number of upstream frames of the fixture `text` that contain its first words, but not its end.
 */
export const SOME_FRAMES: Readonly<Record<DialectName, number>> = {
  messages: 5,
  chat_completions: 3,
  generate_content: 2,
  responses: 6,
};

/** How an endpoint is asked for a stream of a text. */
interface Paced {
  readonly scenario: string;
  readonly needs: Feature;
  readonly cost: Scenario["cost"];
  readonly request: (route: Route, name: string, text: string) => TestRequest;
}

/** The endpoints by the first words of their checks and labels. */
export const PACED = {
  responses: {
    scenario: "responses-pace",
    needs: "responses",
    cost: perRoute(2),
    request: (route, name, text) =>
      requestOf(route, "stream", name, { input: text }),
  },
  generate_content: {
    scenario: "generate-content-pace",
    needs: "generate-content",
    cost: contentCost(2),
    request: (route, name, text) =>
      contentRequest(route, "stream", name, contents(text)),
  },
} as const satisfies Readonly<Record<string, Paced>>;

/** Waits for the first words while the upstream waits, then lets it go on. */
async function gated(
  session: Session,
  route: Route,
  { request }: Paced,
): Promise<void> {
  const nonce = session.nonce();
  const at = SOME_FRAMES[route.via ?? "messages"];
  const fixture = `text?gate=g${nonce}&at=${at}`;
  const one = request(
    route,
    "gated",
    session.prompt(fixture, "Say hello.", nonce),
  );
  const underway = session.begin({ ...one, slow: true });
  const seen = await underway.bodyContains("Hello", session.patienceMs);
  session.note(`${one.label} seen`, seen);
  session.replay.openGate(`g${nonce}`);
  await underway.finish();
}

async function left(
  session: Session,
  route: Route,
  { request }: Paced,
): Promise<void> {
  const nonce = session.nonce();
  const fixture = `hold-mid?frames=${SOME_FRAMES[route.via ?? "messages"]}`;
  const one = request(
    route,
    "left",
    session.prompt(fixture, "Say hello.", nonce),
  );
  const underway = session.begin(one);
  await session.logEntryOf(nonce, session.patienceMs);
  await underway.bodyContains("Hello", session.patienceMs);
  underway.disconnect();
  await underway.finish();
  const ending = await session.upstreamEnding(nonce, session.patienceMs);
  session.note(`${one.label} upstream`, ending ?? "still open");
}

export const PACE_SCENARIOS: Readonly<Record<keyof typeof PACED, Scenario>> = {
  responses: paceOf("responses"),
  generate_content: paceOf("generate_content"),
};

function paceOf(name: keyof typeof PACED): Scenario {
  const paced = PACED[name];
  return {
    name: paced.scenario,
    about:
      "Streams whose upstream waits until the first words arrived, and streams that the client leaves",
    mode: "replay",
    cost: paced.cost,
    play: async (session) => {
      await Promise.all(
        session.routes(name).flatMap((route) => [
          gated(session, route, paced),
          left(session, route, paced),
        ]),
      );
    },
  };
}
