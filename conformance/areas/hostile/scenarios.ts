/**
 * Scenarios of the area `hostile`: the same content from the upstream, encoded and split in
 * different ways.
 */
import { GENERATION, plainRequest, streamed } from "../../suite/requests.ts";
import { requestFixtures } from "../../suite/all_routes.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { STREAM_SCENARIOS } from "./scenarios_streams.ts";

/** Encodings of a stream that do not change its content. */
export const SPELLINGS = [
  "burst",
  "crlf",
  "cr",
  "bom",
  "nospace",
  "multiline",
  "comments",
  "ids",
  "gzip",
] as const;

const RESPELLED: Scenario = {
  name: "respelled",
  about: "Unicode text in nine encodings of the same event stream",
  mode: "replay",
  cost: perRoute(SPELLINGS.length, 64),
  async play(session) {
    for (const endpoint of GENERATION) {
      for (const route of session.routes(endpoint)) {
        await Promise.all(SPELLINGS.map((spelling) =>
          session.send(plainRequest(
            endpoint,
            route,
            spelling,
            session.prompt(`text-unicode?${spelling}`, "Say something."),
            streamed(endpoint),
          ))
        ));
      }
    }
  },
};

const CUT: Scenario = {
  name: "cut-anywhere",
  about: "The same text in pieces of seven bytes, each arriving alone",
  mode: "replay",
  cost: perRoute(1, 64),
  async play(session) {
    await Promise.all(
      GENERATION.flatMap((endpoint) =>
        session.routes(endpoint).map((route) =>
          session.send({
            ...plainRequest(
              endpoint,
              route,
              "split",
              session.prompt("text-unicode?split=7", "Say something."),
              streamed(endpoint),
            ),
            slow: true,
          })
        )
      ),
    );
  },
};

/** Encodings of whole replies. */
export const WHOLE_SPELLINGS = ["bom", "gzip", "split=9"] as const;

const TOOLS_RESPELLED: Scenario = {
  name: "tools-respelled",
  about: "Tool arguments in many scripts, in the same encodings and in pieces",
  mode: "replay",
  cost: perRoute(SPELLINGS.length + 1 + WHOLE_SPELLINGS.length, 64),
  play: (session) =>
    requestFixtures(session, () => [
      ...SPELLINGS.map((spelling) => ({
        form: spelling,
        fixture: `tool-unicode-args?${spelling}`,
        stream: true,
      })),
      {
        form: "split",
        fixture: "tool-unicode-args?split=23",
        stream: true,
        slow: true,
      },
      ...WHOLE_SPELLINGS.map((spelling) => ({
        form: `whole-${spelling}`,
        fixture: `tool-unicode-args?${spelling}`,
        stream: false,
        slow: spelling.startsWith("split"),
      })),
    ]),
};

export const HOSTILE_SCENARIOS: readonly Scenario[] = [
  RESPELLED,
  CUT,
  TOOLS_RESPELLED,
  ...STREAM_SCENARIOS,
];
