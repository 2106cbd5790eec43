/** Scenarios of the area `hostile`: streams that stop anywhere, fail anywhere, or are no streams at all. */
import { fillFrames } from "../replay/deliver.ts";
import type { Call, Dialect } from "../replay/call.ts";
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { askForAll, bothForms, type Wanted } from "../suite/everywhere.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";
import { WRITTEN } from "../fixtures/mod.ts";

/** The number of the frame that ends the reply: what is cut before it is unfinished. */
export function endFrame(fixture: string, via: Dialect | undefined): number {
  return framesFor(fixture, via).findIndex((frame) =>
    /"stop_reason":"|"finish_reason":"|"finishReason": ?"/.test(frame)
  );
}

function framesFor(
  name: string,
  via: Dialect | undefined,
): readonly string[] {
  const dialect = via ?? "messages";
  const call: Pick<Call, "usageAsked" | "model"> = {
    usageAsked: true,
    model: "",
  };
  const stream = WRITTEN.get(name)?.replies[dialect].stream ?? [];
  return fillFrames(stream, { ...EMPTY_CALL, ...call, dialect });
}

const EMPTY_CALL: Call = {
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

/** Ways in which a stream stops. */
export const STOPS = ["cut", "cut-frame", "cut-chunk", "reset"] as const;

/** Fixtures that are cut: text, and tool calls. */
export const CUT_FIXTURES = ["text", "tool-text"] as const;

function cuts(fixture: string, via: Dialect | undefined): readonly Wanted[] {
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
    play: (lab) => askForAll(lab, ({ via }) => cuts(fixture, via)),
  };
}

const CUT_WHOLE: Scenario = {
  name: "cut-whole",
  about: "Whole replies that stop in the middle",
  mode: "replay",
  cost: perRoute(4, 64),
  play: (lab) =>
    askForAll(
      lab,
      () =>
        ["cut", "cut-chunk", "reset", "short-length"].map((how) => ({
          form: how,
          fixture: how,
          stream: false,
        })),
    ),
};

/** Errors inside a stream, at its beginning, in its middle, and before its end. */
export const ERRORS_INSIDE: Readonly<Record<string, string>> = {
  "error-first": "error-first",
  "error-early": "error-mid?frames=1",
  "error-mid": "error-mid",
  "error-finish": "error-finish",
  "error-event": "error-event",
};

const INSIDE: Scenario = {
  name: "errors-inside",
  about: "Streams of status 200 with an error in them",
  mode: "replay",
  cost: perRoute(6, 64),
  play: (lab) =>
    askForAll(lab, ({ via }) => [
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

/** Replies of another kind than was asked for; the gateway may read them, or must say that it cannot. */
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

/** Replies with nothing in them. */
export const NOTHING = ["empty-200", "html-200"] as const;

const CONFUSING: Scenario = {
  name: "confusing",
  about: "Replies of status 200 that are not what they should be",
  mode: "replay",
  cost: perRoute(2 * (CONFUSED.length + NOTHING.length) + 1, 64),
  async play(lab) {
    await askForAll(
      lab,
      () =>
        [...CONFUSED, ...NOTHING].flatMap((form) => bothForms(form)).concat([
          { form: "no-done", fixture: "no-done", stream: true },
        ]),
    );
    await askForAll(lab, () => bothForms("text", "afterwards"));
  },
};

/** Fixtures that are asked for at the same time. */
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
  about: "Many requests at the same moment, each for another reply",
  mode: "replay",
  cost: perRoute(2 * CROWD.length, 64),
  async play(lab) {
    await Promise.all(
      GENERATION.flatMap((endpoint) =>
        lab.routes(endpoint).flatMap((route) =>
          CROWD.flatMap((fixture) =>
            [false, true].map((stream) =>
              lab.send(plainAsk(
                endpoint,
                route,
                `${fixture}-${stream ? "stream" : "whole"}`,
                lab.prompt(`${fixture}?ms=1`, "Say something."),
                stream ? streamed(endpoint) : {},
              ))
            )
          )
        )
      ),
    );
  },
};

/** The scenarios. */
export const STREAM_SCENARIOS: readonly Scenario[] = [
  ...CUT_FIXTURES.map(cutScenario),
  CUT_WHOLE,
  INSIDE,
  CONFUSING,
  CROWDED,
];
