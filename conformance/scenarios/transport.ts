/** Scenarios of the area `transport`: when bytes travel, and what a hang-up does. No clock decides: gates and the journal do. */
import type { Dialect } from "../replay/call.ts";
import {
  GENERATION,
  type Generation,
  plainAsk,
  streamed,
} from "../suite/asks.ts";
import type { Lab } from "../suite/lab.ts";
import { perRoute, type Route, type Scenario } from "../suite/scenario.ts";

/** Upstream frames of the fixture `text` that hold its first words and not yet its end. */
const SOME_FRAMES: Readonly<Record<Dialect, number>> = {
  messages: 5,
  chat_completions: 3,
  generate_content: 2,
};

/** Far more than a gateway needs to pass a frame on; only a fault waits so long. */
const PATIENCE_MS = 2000;

/** Plays the same on all routes of both endpoints at once. */
async function onEveryRoute(
  lab: Lab,
  one: (endpoint: Generation, route: Route) => Promise<void>,
): Promise<void> {
  await Promise.all(
    GENERATION.flatMap((endpoint) =>
      lab.routes(endpoint).map((route) => one(endpoint, route))
    ),
  );
}

const GATED: Scenario = {
  name: "gated",
  about:
    "The upstream withholds the rest of the stream until the first words have reached the caller",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(lab) {
    await onEveryRoute(lab, async (endpoint, route) => {
      const nonce = lab.nonce();
      const at = SOME_FRAMES[route.via ?? "messages"];
      const words = lab.prompt(
        `text?gate=g${nonce}&at=${at}`,
        "Say hello.",
        nonce,
      );
      const ask = plainAsk(
        endpoint,
        route,
        "gated",
        words,
        streamed(endpoint),
      );
      const underway = lab.begin(ask);
      const seen = await underway.shows("Hello", PATIENCE_MS);
      lab.note(`${ask.label} seen`, seen);
      lab.replay.openGate(`g${nonce}`);
      await underway.finish();
    });
  },
};

const HUNG_UP: Scenario = {
  name: "hung-up",
  about:
    "The caller leaves in the middle of a stream that the upstream keeps open",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(lab) {
    await onEveryRoute(lab, async (endpoint, route) => {
      const nonce = lab.nonce();
      const frames = SOME_FRAMES[route.via ?? "messages"];
      const words = lab.prompt(
        `hold-mid?frames=${frames}`,
        "Say hello.",
        nonce,
      );
      const ask = plainAsk(
        endpoint,
        route,
        "hung-up",
        words,
        streamed(endpoint),
      );
      const underway = lab.begin(ask);
      await underway.shows("Hello", PATIENCE_MS);
      underway.hangUp();
      await underway.finish();
      const ending = await lab.upstreamEnding(nonce, PATIENCE_MS);
      lab.note(`${ask.label} upstream`, ending ?? "still open");
    });
  },
};

/** The scenarios. */
export const TRANSPORT_SCENARIOS: readonly Scenario[] = [GATED, HUNG_UP];
