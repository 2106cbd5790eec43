/**
 * The same short question, alone and with more for the model to read: instructions, tools, a tool
 * result. Input that the gateway lost is not billed, so the loss shows whatever the model answers.
 */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  GENERATION,
  type Generation,
  plainRequest,
} from "../../suite/requests.ts";
import { runConcurrently } from "../../suite/all_routes.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";

/** Common words; no tokenizer merges two of them into one token. */
const WORDS = (
  "the small green boat went slowly down the quiet river while two old men sat under the tall trees near the " +
  "stone bridge and talked about the weather and the price of bread until the evening came and the first stars " +
  "could be seen above the dark hills in the west "
).repeat(3).trim().split(" ");

/** That many of the words, starting at this one. */
function words(from: number, count: number): string {
  return WORDS.slice(from, from + count).join(" ");
}

/** Number of words that each form has beyond the form that it is compared with. */
export const MORE = {
  long: { words: 60, than: "plain" },
  system: { words: 45, than: "plain" },
  systems: { words: 45, than: "system" },
  tool: { words: 45, than: "plain" },
  result: { words: 120, than: "tool" },
} as const;

export type Form = keyof typeof MORE;

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
    "A short question alone, with more words, instructions, a tool and a tool result",
  mode: "both",
  cost: perRoute(1 + FORMS.length, 16, 300),
  // No fixture is named: the replay upstream counts the input it receives.
  play: (session) =>
    runConcurrently(
      GENERATION.flatMap((endpoint) =>
        session.routes(endpoint).flatMap((route) =>
          Object.entries(BODIES).map(([form, body]) => () =>
            session.send(
              plainRequest(endpoint, route, `counted/${form}`, ASKED, {
                max_tokens: 16,
                ...body(endpoint),
              }),
            )
          )
        )
      ),
    ),
};

export const INPUT_TOKEN_SCENARIOS: readonly Scenario[] = [COUNTED];
