/** Scenarios of the area `hostile`: the same words from the upstream in other spellings and other pieces. */
import { GENERATION, plainAsk, streamed } from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

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
          lab.send(plainAsk(
            endpoint,
            route,
            "split",
            lab.prompt("text-unicode?split=7", "Say something."),
            streamed(endpoint),
          ))
        )
      ),
    );
  },
};

/** The scenarios. */
export const HOSTILE_SCENARIOS: readonly Scenario[] = [RESPELLED, CUT];
