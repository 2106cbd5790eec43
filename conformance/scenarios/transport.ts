/** Scenarios of the area `transport`: when bytes travel, and what a hang-up does. No clock decides: gates and the journal do. */
import { WRITTEN } from "../fixtures/mod.ts";
import type { Dialect } from "../replay/call.ts";
import {
  GENERATION,
  type Generation,
  plainAsk,
  streamed,
} from "../suite/asks.ts";
import type { Lab } from "../suite/lab.ts";
import { perRoute, type Route, type Scenario } from "../suite/scenario.ts";
import { TRANSPORT_REQUEST_SCENARIOS } from "./transport_requests.ts";

/** Upstream frames of the fixture `text` that hold its first words and not yet its end. */
const SOME_FRAMES: Readonly<Record<Dialect, number>> = {
  messages: 5,
  chat_completions: 3,
  generate_content: 2,
};

/** Far more than a gateway needs to pass a frame on; only a fault waits so long. */
const PATIENCE_MS = 5000;

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

/** The words that each frame of the fixture `text` brings; "" where it brings none that can be told apart. */
function wordsByFrame(via: Dialect): string[] {
  return (WRITTEN.get("text")?.replies[via].stream ?? []).map((frame) => {
    const [, words = ""] =
      /"(?:text|content)":"((?:[^"\\]|\\.)+)"/.exec(frame) ?? [];
    return /[A-Za-z]{2}/.test(words) ? words.trim() : "";
  });
}

const GATED_EACH: Scenario = {
  name: "gated-each",
  about:
    "The upstream withholds each frame until the words of the one before have reached the caller",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(lab) {
    await onEveryRoute(lab, async (endpoint, route) => {
      const nonce = lab.nonce();
      const words = wordsByFrame(route.via ?? "messages");
      const ask = plainAsk(
        endpoint,
        route,
        "gated-each",
        lab.prompt(`text?gates=g${nonce}`, "Say hello.", nonce),
        streamed(endpoint),
      );
      const underway = lab.begin(ask);
      let held = "";
      for (const [at, word] of words.entries()) {
        lab.replay.openGate(`g${nonce}:${at}`);
        if (held !== "" || word === "") continue;
        if (!await underway.shows(word, PATIENCE_MS)) {
          held = `"${word}" of frame ${at}`;
        }
      }
      lab.note(`${ask.label} held`, held);
      await underway.finish();
    });
  },
};

/** Where a caller leaves: the fixture that the upstream plays then, and what the caller waits for before. */
export const PHASES = {
  "before-head": { fixture: "hold", sees: "" },
  "after-head": { fixture: "hold-head", sees: "" },
  "middle": { fixture: "hold-mid?frames=FRAMES", sees: "Hello" },
  "late": { fixture: "hold-mid?frames=99", sees: "dog" },
  "whole-before-head": { fixture: "hold", sees: "" },
  "whole-middle": { fixture: "hold-mid", sees: "" },
} as const;

const HUNG_UP: Scenario = {
  name: "hung-up",
  about:
    "The caller leaves while the upstream is silent: before its head, after it, in the middle and near the end",
  mode: "replay",
  cost: perRoute(6, 64),
  async play(lab) {
    await onEveryRoute(lab, async (endpoint, route) => {
      await Promise.all(
        Object.entries(PHASES).map(async ([phase, { fixture, sees }]) => {
          const nonce = lab.nonce();
          const frames = SOME_FRAMES[route.via ?? "messages"];
          const ask = plainAsk(
            endpoint,
            route,
            phase,
            lab.prompt(
              fixture.replace("FRAMES", String(frames)),
              "Say hello.",
              nonce,
            ),
            phase.startsWith("whole") ? {} : streamed(endpoint),
          );
          const underway = lab.begin(ask);
          await lab.arrived(nonce, PATIENCE_MS);
          if (sees !== "") await underway.shows(sees, PATIENCE_MS);
          underway.hangUp();
          await underway.finish();
          const ending = await lab.upstreamEnding(nonce, PATIENCE_MS);
          lab.note(`${ask.label} upstream`, ending ?? "still open");
        }),
      );
    });
  },
};

/** Fixtures whose texts are unlike each other. */
const UNLIKE = ["text", "max-tokens", "stop-sequence", "text"] as const;

const PARALLEL: Scenario = {
  name: "parallel",
  about:
    "Many streams at once, each with a text of its own: the upstream lets none end before all have begun",
  mode: "replay",
  cost: perRoute(4, 64),
  async play(lab) {
    const gate = `p${lab.nonce()}`;
    const begun: Promise<unknown>[] = [];
    const playing = onEveryRoute(lab, async (endpoint, route) => {
      await Promise.all(UNLIKE.map((name, at) => {
        const nonce = lab.nonce();
        begun.push(lab.arrived(nonce, PATIENCE_MS));
        return lab.send(
          plainAsk(
            endpoint,
            route,
            `${name}:${at}`,
            lab.prompt(`${name}?gate=${gate}&at=1`, "Say hello.", nonce),
            streamed(endpoint),
          ),
        );
      }));
    });
    await Promise.all(begun);
    lab.replay.openGate(gate);
    await playing;
  },
};

const RAW_STREAMS: Scenario = {
  name: "raw-streams",
  about:
    "Replies over a bare socket, as a caller that takes compression and as one that does not",
  mode: "both",
  cost: perRoute(4, 16),
  async play(lab) {
    await onEveryRoute(lab, async (endpoint, route) => {
      for (
        const [form, coding] of [["plain", "identity"], [
          "coded",
          "gzip, deflate, br",
        ]] as const
      ) {
        for (const stream of [true, false]) {
          if (lab.mode === "live" && form === "plain") continue;
          await lab.send({
            ...plainAsk(
              endpoint,
              route,
              `${stream ? "stream" : "whole"}-${form}`,
              lab.prompt("text", "Say hello."),
              { max_tokens: 16, ...(stream ? streamed(endpoint) : {}) },
            ),
            auth: "none",
            rawLines: [
              endpoint === "messages"
                ? `x-api-key: ${lab.key}`
                : `authorization: Bearer ${lab.key}`,
              `accept-encoding: ${coding}`,
            ],
          });
        }
      }
    });
  },
};

/** The scenarios. */
export const TRANSPORT_SCENARIOS: readonly Scenario[] = [
  GATED,
  GATED_EACH,
  HUNG_UP,
  PARALLEL,
  RAW_STREAMS,
  ...TRANSPORT_REQUEST_SCENARIOS,
];
