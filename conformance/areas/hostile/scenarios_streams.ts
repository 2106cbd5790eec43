/**
 * Scenarios of the area `hostile`: streams that break off anywhere, fail anywhere, or are not
 * streams at all.
 */
import { replyIn } from "@model-gateway/replay/reply_in";
import { fillFrames } from "@model-gateway/replay/deliver";
import type {
  DialectName,
  ParsedRequest,
} from "@model-gateway/replay/parse_request";
import { GENERATION, plainRequest, streamed } from "../../suite/requests.ts";
import {
  bothForms,
  requestFixtures,
  type WantedReply,
} from "../../suite/all_routes.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";

/** Number of the frame that ends the reply: a stream cut before it is incomplete. */
function endFrame(
  fixture: string,
  via: DialectName | undefined,
): number {
  return framesFor(fixture, via).findIndex((frame) =>
    /"stop_reason":"|"finish_reason":"|"finishReason": ?"|^event: response\.(completed|incomplete)\n/
      .test(frame)
  );
}

function framesFor(
  name: string,
  via: DialectName | undefined,
): readonly string[] {
  const dialect = via ?? "messages";
  const call: Pick<ParsedRequest, "usageAsked" | "model"> = {
    usageAsked: true,
    model: "",
  };
  const fixture = WRITTEN.get(name);
  const stream = fixture === undefined ? [] : replyIn(fixture, dialect).stream;
  return fillFrames(stream, { ...EMPTY_CALL, ...call, dialect });
}

const EMPTY_CALL: ParsedRequest = {
  dialect: "messages",
  operation: "generate",
  streamed: true,
  asArray: false,
  model: "",
  usageAsked: true,
  body: undefined,
  json: undefined,
  marker: undefined,
  request: { method: "POST", path: "/", headers: {}, body: "" },
};

/** Ways in which a stream ends too early. */
export const STOPS = ["cut", "cut-frame", "cut-chunk", "reset"] as const;

/** The fixtures to cut: text, and tool calls. */
export const CUT_FIXTURES = ["text", "tool-text"] as const;

function cuts(
  fixture: string,
  via: DialectName | undefined,
): readonly WantedReply[] {
  return STOPS.flatMap((how) =>
    Array.from({ length: endFrame(fixture, via) + 1 }, (_, frames) => ({
      form: `${how}-${frames}`,
      fixture: `${how}?of=${fixture}&frames=${frames}`,
      stream: true,
    }))
  );
}

function cutScenario(fixture: typeof CUT_FIXTURES[number]): Scenario {
  return {
    name: `cut-${fixture}`,
    about: `The fixture ${fixture}, cut before, between and inside its frames`,
    mode: "replay",
    cost: perRoute(4 * 20, 64),
    play: (session) =>
      requestFixtures(session, ({ via }) => cuts(fixture, via)),
  };
}

const CUT_WHOLE: Scenario = {
  name: "cut-whole",
  about: "Whole replies that end in the middle",
  mode: "replay",
  cost: perRoute(4, 64),
  play: (session) =>
    requestFixtures(
      session,
      () =>
        ["cut", "cut-chunk", "reset", "short-length"].map((how) => ({
          form: how,
          fixture: how,
          stream: false,
        })),
    ),
};

/** Errors at the beginning of a stream, in the middle, and before its end. */
export const ERRORS_INSIDE: Readonly<Record<string, string>> = {
  "error-first": "error-first",
  "error-early": "error-mid?frames=1",
  "error-mid": "error-mid",
  "error-finish": "error-finish",
  "error-event": "error-event",
};

const INSIDE: Scenario = {
  name: "errors-inside",
  about: "Streams of status 200 that contain an error",
  mode: "replay",
  cost: perRoute(6, 64),
  play: (session) =>
    requestFixtures(session, ({ via }) => [
      ...Object.entries(ERRORS_INSIDE).map(([form, fixture]) => ({
        form,
        fixture,
        stream: true,
      })),
      {
        form: "error-late",
        fixture: `error-mid?frames=${endFrame("text", via)}`,
        stream: true,
      },
    ]),
};

/** Replies of another kind than requested; the gateway may read them, or must report an error. */
export const CONFUSED = [
  "json-for-stream",
  "sse-for-json",
  "bad-json",
  "no-blank-line",
  "long-length",
  "short-length",
  "close-delimited",
  "bare",
] as const;

export const NOTHING = ["empty-200", "html-200"] as const;

const CONFUSING: Scenario = {
  name: "confusing",
  about: "Unexpected replies of status 200",
  mode: "replay",
  cost: perRoute(2 * (CONFUSED.length + NOTHING.length) + 1, 64),
  async play(session) {
    await requestFixtures(
      session,
      () =>
        [...CONFUSED, ...NOTHING].flatMap((form) => bothForms(form)).concat([
          { form: "no-done", fixture: "no-done", stream: true },
        ]),
    );
    await requestFixtures(session, () => bothForms("text", "afterwards"));
  },
};

/** Fixtures that are requested concurrently. */
export const CROWD = [
  "text",
  "text-unicode",
  "max-tokens",
  "tool",
  "tool-parallel",
  "tool-text",
  "cache-usage",
  "reasoning-usage",
] as const;

const CROWDED: Scenario = {
  name: "crowded",
  about: "Many concurrent requests, each for a different reply",
  mode: "replay",
  cost: perRoute(2 * CROWD.length, 64),
  async play(session) {
    await Promise.all(
      GENERATION.flatMap((endpoint) =>
        session.routes(endpoint).flatMap((route) =>
          CROWD.flatMap((fixture) =>
            [false, true].map((stream) =>
              session.send(plainRequest(
                endpoint,
                route,
                `${fixture}-${stream ? "stream" : "whole"}`,
                session.prompt(`${fixture}?ms=1`, "Say something."),
                stream ? streamed(endpoint) : {},
              ))
            )
          )
        )
      ),
    );
  },
};

export const STREAM_SCENARIOS: readonly Scenario[] = [
  ...CUT_FIXTURES.map(cutScenario),
  CUT_WHOLE,
  INSIDE,
  CONFUSING,
  CROWDED,
];
