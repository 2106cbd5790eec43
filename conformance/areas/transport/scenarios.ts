/**
 * Scenarios of the area `transport`: when bytes arrive, and the effect of a disconnect. Gates and
 * the request log decide, never the clock.
 */
import { replyIn } from "@model-gateway/replay/reply_in";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { DialectName } from "@model-gateway/replay/parse_request";
import {
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { SOME_FRAMES } from "../replies/scenarios_pace.ts";
import type { Session } from "../../suite/session.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import type { Route } from "../../suite/route.ts";
import { UNREAD_BODY_SCENARIOS } from "./scenarios_unread_body.ts";
import { TRANSPORT_REQUEST_SCENARIOS } from "./scenarios_requests.ts";

/** Longest wait for a step of a request that a client leaves. */
const PATIENCE_MS = 5000;

/** Makes the same requests on all routes of both endpoints concurrently. */
async function onEveryRoute(
  session: Session,
  one: (endpoint: Generation, route: Route) => Promise<void>,
): Promise<void> {
  await Promise.all(
    GENERATION.flatMap((endpoint) =>
      session.routes(endpoint).map((route) => one(endpoint, route))
    ),
  );
}

const GATED: Scenario = {
  name: "gated",
  about:
    "The upstream withholds the rest of the stream until the first words have reached the client",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(session) {
    await onEveryRoute(session, async (endpoint, route) => {
      const nonce = session.nonce();
      const at = SOME_FRAMES[route.via ?? "messages"];
      const words = session.prompt(
        `text?gate=g${nonce}&at=${at}`,
        "Say hello.",
        nonce,
      );
      const request = plainRequest(
        endpoint,
        route,
        "gated",
        words,
        streamed(endpoint),
      );
      const underway = session.begin({ ...request, slow: true });
      const seen = await underway.bodyContains("Hello", session.promptMs);
      session.note(`${request.label} seen`, seen);
      session.replay.openGate(`g${nonce}`);
      await underway.finish();
    });
  },
};

/**
 * The text in each frame of the fixture `text`; "" for a frame without text that can be identified.
 */
function wordsByFrame(via: DialectName): string[] {
  const fixture = WRITTEN.get("text");
  if (fixture === undefined) return [];
  return replyIn(fixture, via).stream.map((frame) => {
    const [, words = ""] =
      /"(?:text|content|delta)":"((?:[^"\\]|\\.)+)"/.exec(frame) ?? [];
    // Frames that repeat the whole text have nothing new.
    if (/^event: response\..*done\n|"output":\[\{/.test(frame)) return "";
    return /[A-Za-z]{2}/.test(words) ? words.trim() : "";
  });
}

const GATED_EACH: Scenario = {
  name: "gated-each",
  about:
    "The upstream withholds each frame until the text of the previous one has reached the client",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(session) {
    await onEveryRoute(session, async (endpoint, route) => {
      const nonce = session.nonce();
      const words = wordsByFrame(route.via ?? "messages");
      const request = plainRequest(
        endpoint,
        route,
        "gated-each",
        session.prompt(`text?gates=g${nonce}`, "Say hello.", nonce),
        streamed(endpoint),
      );
      const underway = session.begin({ ...request, slow: true });
      let held = "";
      for (const [at, word] of words.entries()) {
        session.replay.openGate(`g${nonce}:${at}`);
        if (held !== "" || word === "") continue;
        if (!await underway.bodyContains(word, session.promptMs)) {
          held = `"${word}" of frame ${at}`;
        }
      }
      session.note(`${request.label} held`, held);
      await underway.finish();
    });
  },
};

/**
 * The moments at which a client disconnects: the fixture that the upstream plays, and what the
 * client waits for first.
 */
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
    "The client disconnects while the upstream is silent: before its head, after it, in the middle and near the end",
  mode: "replay",
  cost: perRoute(6, 64),
  async play(session) {
    await onEveryRoute(session, async (endpoint, route) => {
      await Promise.all(
        Object.entries(PHASES).map(async ([phase, { fixture, sees }]) => {
          const nonce = session.nonce();
          const frames = SOME_FRAMES[route.via ?? "messages"];
          const request = plainRequest(
            endpoint,
            route,
            phase,
            session.prompt(
              fixture.replace("FRAMES", String(frames)),
              "Say hello.",
              nonce,
            ),
            phase.startsWith("whole") ? {} : streamed(endpoint),
          );
          const underway = session.begin(request);
          await session.logEntryOf(nonce, PATIENCE_MS);
          if (sees !== "") {
            await underway.bodyContains(sees, PATIENCE_MS);
          }
          underway.disconnect();
          await underway.finish();
          const ending = await session.upstreamEnding(
            nonce,
            PATIENCE_MS,
          );
          session.note(`${request.label} upstream`, ending ?? "still open");
        }),
      );
    });
  },
};

/** Fixtures whose texts differ from each other. */
const UNLIKE = ["text", "max-tokens", "stop-sequence", "text"] as const;

const PARALLEL: Scenario = {
  name: "parallel",
  about:
    "Many concurrent streams, each with its own text: the upstream ends none before all have begun",
  mode: "replay",
  cost: perRoute(4, 64),
  async play(session) {
    const gate = `p${session.nonce()}`;
    const begun: Promise<unknown>[] = [];
    const playing = onEveryRoute(session, async (endpoint, route) => {
      await Promise.all(UNLIKE.map((name, at) => {
        const nonce = session.nonce();
        begun.push(session.logEntryOf(nonce, PATIENCE_MS));
        return session.send(
          plainRequest(
            endpoint,
            route,
            `${name}:${at}`,
            session.prompt(`${name}?gate=${gate}&at=1`, "Say hello.", nonce),
            streamed(endpoint),
          ),
        );
      }));
    });
    await Promise.all(begun);
    session.replay.openGate(gate);
    await playing;
  },
};

const RAW_STREAMS: Scenario = {
  name: "raw-streams",
  about: "Replies over a bare socket, with and without accept-encoding",
  mode: "both",
  // A live run sends two of the four.
  cost: perRoute(2, 16),
  async play(session) {
    await onEveryRoute(session, async (endpoint, route) => {
      for (
        const [form, coding] of [["plain", "identity"], [
          "coded",
          "gzip, deflate, br",
        ]] as const
      ) {
        for (const stream of [true, false]) {
          if (session.mode === "live" && form === "plain") continue;
          await session.send({
            ...plainRequest(
              endpoint,
              route,
              `${stream ? "stream" : "whole"}-${form}`,
              session.prompt("text", "Say hello."),
              { max_tokens: 16, ...(stream ? streamed(endpoint) : {}) },
            ),
            auth: "none",
            rawLines: [
              endpoint === "messages"
                ? `x-api-key: ${session.key}`
                : `authorization: Bearer ${session.key}`,
              `accept-encoding: ${coding}`,
            ],
          });
        }
      }
    });
  },
};

export const TRANSPORT_SCENARIOS: readonly Scenario[] = [
  GATED,
  GATED_EACH,
  HUNG_UP,
  PARALLEL,
  RAW_STREAMS,
  ...TRANSPORT_REQUEST_SCENARIOS,
  ...UNREAD_BODY_SCENARIOS,
];
