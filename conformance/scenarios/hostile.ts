/** Scenarios of the area `hostile`: the same words from the upstream in other spellings and other pieces. */
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { askForAll } from "../suite/everywhere.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";
import { STREAM_SCENARIOS } from "./hostile_streams.ts";

/** Spellings that change nothing of what is said. */
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
  about: "Unicode text in nine spellings of the same event stream",
  mode: "replay",
  cost: perRoute(SPELLINGS.length, 64),
  async play(lab) {
    for (const endpoint of GENERATION) {
      for (const route of lab.routes(endpoint)) {
        await Promise.all(SPELLINGS.map((spelling) =>
          lab.send(plainAsk(
            endpoint,
            route,
            spelling,
            lab.prompt(`text-unicode?${spelling}`, "Say something."),
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
  async play(lab) {
    await Promise.all(
      GENERATION.flatMap((endpoint) =>
        lab.routes(endpoint).map((route) =>
          lab.send({
            ...plainAsk(
              endpoint,
              route,
              "split",
              lab.prompt("text-unicode?split=7", "Say something."),
              streamed(endpoint),
            ),
            slow: true,
          })
        )
      ),
    );
  },
};

/** Spellings of whole replies. */
export const WHOLE_SPELLINGS = ["bom", "gzip", "split=9"] as const;

const TOOLS_RESPELLED: Scenario = {
  name: "tools-respelled",
  about: "Tool arguments in many scripts, in the same spellings and in pieces",
  mode: "replay",
  cost: perRoute(SPELLINGS.length + 1 + WHOLE_SPELLINGS.length, 64),
  play: (lab) =>
    askForAll(lab, () => [
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

/** The scenarios. */
export const HOSTILE_SCENARIOS: readonly Scenario[] = [
  RESPELLED,
  CUT,
  TOOLS_RESPELLED,
  ...STREAM_SCENARIOS,
];
