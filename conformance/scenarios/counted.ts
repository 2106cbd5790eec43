/**
 * The same short question, alone and with something more that must be read by the model: instructions, tools, a tool's
 * result. What was lost on the way is not billed, and so it is found whatever the model answers.
 */
import type { JsonObject } from "../replay/json.ts";
import { GENERATION, type Generation, plainAsk } from "../suite/asks.ts";
import { atOnce } from "../suite/everywhere.ts";
import { perRoute, type Scenario } from "../suite/scenario.ts";

/** Plain words; no reader takes more than one word for a token. */
const WORDS = (
  "the small green boat went slowly down the quiet river while two old men sat under the tall trees near the " +
  "stone bridge and talked about the weather and the price of bread until the evening came and the first stars " +
  "could be seen above the dark hills in the west "
).repeat(3).trim().split(" ");

/** So many words of it, from a place of its own. */
function words(from: number, count: number): string {
  return WORDS.slice(from, from + count).join(" ");
}

/** Words that each form has more than the one that it is compared with. */
export const MORE = {
  long: { words: 60, than: "plain" },
  system: { words: 45, than: "plain" },
  systems: { words: 45, than: "system" },
  tool: { words: 45, than: "plain" },
  result: { words: 120, than: "tool" },
} as const;

/** A form with something more. */
export type Form = keyof typeof MORE;

/** All forms. */
export const FORMS: readonly Form[] = [
  "long",
  "system",
  "systems",
  "tool",
  "result",
];

const ASKED = "Say hello in one word.";
const SYSTEM = words(3, MORE.system.words);
const SECOND_SYSTEM = words(21, MORE.systems.words);

function tools(endpoint: Generation): JsonObject {
  const name = "get_weather";
  const description = words(9, MORE.tool.words);
  const schema = { type: "object", properties: { city: { type: "string" } } };
  return {
    tools: [
      endpoint === "messages" ? { name, description, input_schema: schema } : {
        type: "function",
        function: { name, description, parameters: schema },
      },
    ],
  };
}

function instructed(
  endpoint: Generation,
  texts: readonly string[],
): JsonObject {
  const asked = { role: "user", content: ASKED };
  return endpoint === "messages"
    ? {
      system: texts.length === 1
        ? texts[0] ?? ""
        : texts.map((text) => ({ type: "text", text })),
      messages: [asked],
    }
    : {
      messages: [
        ...texts.map((content) => ({ role: "system", content })),
        asked,
      ],
    };
}

function answered(endpoint: Generation): JsonObject {
  const id = "call_1";
  const name = "get_weather";
  const result = words(30, MORE.result.words);
  const asked = { role: "user", content: ASKED };
  return {
    ...tools(endpoint),
    messages: endpoint === "messages"
      ? [
        asked,
        {
          role: "assistant",
          content: [{ type: "tool_use", id, name, input: {} }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: result }],
        },
      ]
      : [
        asked,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id, type: "function", function: { name, arguments: "{}" } },
          ],
        },
        { role: "tool", tool_call_id: id, content: result },
      ],
  };
}

const BODIES: Readonly<
  Record<Form | "plain", (endpoint: Generation) => JsonObject>
> = {
  plain: () => ({}),
  long: () => ({
    messages: [{
      role: "user",
      content: `${ASKED} ${words(0, MORE.long.words)}`,
    }],
  }),
  system: (endpoint) => instructed(endpoint, [SYSTEM]),
  systems: (endpoint) => instructed(endpoint, [SYSTEM, SECOND_SYSTEM]),
  tool: tools,
  result: answered,
};

const COUNTED: Scenario = {
  name: "counted",
  about:
    "A short question alone, with more words, instructions, a tool and a tool's result",
  mode: "both",
  cost: perRoute(1 + FORMS.length, 16, 300),
  // No fixture is named: the replay upstream counts what it is sent.
  play: (lab) =>
    atOnce(
      GENERATION.flatMap((endpoint) =>
        lab.routes(endpoint).flatMap((route) =>
          Object.entries(BODIES).map(([form, body]) => () =>
            lab.send(
              plainAsk(endpoint, route, `counted/${form}`, ASKED, {
                max_tokens: 16,
                ...body(endpoint),
              }),
            )
          )
        )
      ),
    ),
};

/** The scenarios. */
export const COUNTED_SCENARIOS: readonly Scenario[] = [COUNTED];
