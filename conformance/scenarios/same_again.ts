/**
 * The same request again and again, whole and streamed. Where a model repeats itself word for word, a form that says
 * something else has been changed on its way; so much can be told of any model, whatever it answers.
 */
import type { JsonObject } from "../replay/json.ts";
import {
  GENERATION,
  type Generation,
  plainAsk,
  streamed,
} from "../suite/asks.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

/** How often each form is asked for. */
export const AGAIN = [1, 2] as const;

/** A line with what is lost first on the way: several scripts, a joined emoji, quotes, markup, blanks, a backslash. */
const LINE = String.raw`Grüße, 你好 👩‍🚀 "q" <b>&amp; C:\tmp\new end.`;

/** The only values that the demanded call may have. */
const NOTE = {
  type: "object",
  properties: {
    line: { type: "string", enum: [`${LINE} ${LINE} ${LINE} ${LINE} Ende`] },
    padded: { type: "string", enum: ["  two blanks\n\n\tbefore, one after "] },
  },
  required: ["line", "padded"],
  additionalProperties: false,
} as const;

/** A tool whose call is demanded. */
function demanded(endpoint: Generation): JsonObject {
  const name = "save_note";
  const description = "Saves a note.";
  return endpoint === "messages"
    ? {
      tools: [{ name, description, input_schema: NOTE }],
      tool_choice: { type: "tool", name },
    }
    : {
      tools: [{
        type: "function",
        function: { name, description, parameters: NOTE },
      }],
      tool_choice: { type: "function", function: { name } },
    };
}

/** What is asked; labels are `ENDPOINT/ROUTE/KIND/whole-N` and `ENDPOINT/ROUTE/KIND/stream-N`. */
const KINDS: Readonly<
  Record<string, {
    readonly words: string;
    readonly more: (endpoint: Generation) => JsonObject;
  }>
> = {
  text: {
    words: `${LINE} Repeat this line exactly.`,
    more: () => ({ max_tokens: 96, temperature: 0 }),
  },
  call: {
    words: "Save the note.",
    more: (endpoint) => ({
      max_tokens: 400,
      temperature: 0,
      ...demanded(endpoint),
    }),
  },
};

const SAME_AGAIN: Scenario = {
  name: "same-again",
  about:
    "The same line and the same demanded call, twice whole and twice streamed",
  mode: "both",
  cost: perRoute(2 * AGAIN.length * Object.keys(KINDS).length, 248, 200),
  // No fixture is named: the replay upstream speaks freely, and the same request gets the same words. One after the other, both
  // whole ones first: so a model that obeys every other time shows that it does not repeat itself.
  play: async (lab) => {
    for (const endpoint of GENERATION) {
      for (const route of lab.routes(endpoint)) {
        for (const [kind, { words, more }] of Object.entries(KINDS)) {
          for (const form of ["whole", "stream"] as const) {
            for (const number of AGAIN) {
              await lab.send(plainAsk(
                endpoint,
                route,
                `${kind}/${form}-${number}`,
                words,
                {
                  ...more(endpoint),
                  ...(form === "stream" ? streamed(endpoint) : {}),
                },
              ));
            }
          }
        }
      }
    }
  },
};

/** The scenarios. */
export const SAME_AGAIN_SCENARIOS: readonly Scenario[] = [SAME_AGAIN];
