/**
 * The same request repeated, whole and streamed. Where a model repeats itself word for word, a form
 * with other words was changed by the gateway. This holds for any model, whatever it answers.
 */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";

// Names of scenarios that other areas read.
export const SAME_AGAIN_NAME = "same-again";

/** Numbers of the repetitions of each form. */
export const AGAIN = [1, 2] as const;

/**
 * A line of text that is easily damaged: several scripts, a joined emoji, quotes, markup, spaces, a
 * backslash.
 */
const LINE = String.raw`Grüße, 你好 👩‍🚀 "q" <b>&amp; C:\tmp\new end.`;

/** The only values that the forced call may have. */
const NOTE = {
  type: "object",
  properties: {
    line: { type: "string", enum: [`${LINE} ${LINE} ${LINE} ${LINE} Ende`] },
    padded: { type: "string", enum: ["  two blanks\n\n\tbefore, one after "] },
  },
  required: ["line", "padded"],
  additionalProperties: false,
} as const;

function forcedCall(endpoint: Generation): JsonObject {
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

/** The requests; labels are `ENDPOINT/ROUTE/KIND/whole-N` and `ENDPOINT/ROUTE/KIND/stream-N`. */
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
      ...forcedCall(endpoint),
    }),
  },
};

const SAME_AGAIN: Scenario = {
  name: SAME_AGAIN_NAME,
  about:
    "The same line and the same forced call, twice whole and twice streamed",
  mode: "both",
  cost: perRoute(2 * AGAIN.length * Object.keys(KINDS).length, 248, 200),
  // No fixture is named: the replay upstream improvises, with the same words for the same request.
  // The requests are sent one after the other, both whole ones first, so that a model that
  // alternates between two answers shows it within one form.
  play: async (session) => {
    for (const endpoint of GENERATION) {
      for (const route of session.routes(endpoint)) {
        for (const [kind, { words, more }] of Object.entries(KINDS)) {
          for (const form of ["whole", "stream"] as const) {
            for (const number of AGAIN) {
              await session.send(plainRequest(
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

export const REPETITION_SCENARIOS: readonly Scenario[] = [SAME_AGAIN];
