/** Scenarios of the area `counts`. */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  COUNT_FORMATS,
  type CountName,
  countRequest,
} from "../../suite/count_formats.ts";
import type { Route } from "../../suite/route.ts";
import { free, type Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";

/** The words of the formats, in the order of the reports. */
export const NAMES = Object.keys(COUNT_FORMATS) as readonly CountName[];

const SYSTEM = "Answer in one word, and in the language of the question.";
const TOOL = { name: "get_weather", description: "The weather of a city." };
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };

/** Members that add an instruction and a tool to a request with one user turn. */
const MORE: Readonly<
  Record<CountName, (model: string, text: string) => JsonObject>
> = {
  messages: () => ({
    system: SYSTEM,
    tools: [{ ...TOOL, input_schema: SCHEMA }],
  }),
  chat: (_, text) => ({
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: text },
    ],
    tools: [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }],
  }),
  responses: () => ({
    instructions: SYSTEM,
    tools: [{ type: "function", ...TOOL, parameters: SCHEMA, strict: false }],
  }),
  generate_content: (model, text) =>
    inRequest(model, text, {
      systemInstruction: { parts: [{ text: SYSTEM }] },
      tools: [{
        functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }],
      }],
    }),
};

/** The other form of a count of generate content: with a whole request inside. */
function inRequest(
  model: string,
  text: string,
  more: JsonObject = {},
): JsonObject {
  return {
    contents: undefined,
    generateContentRequest: {
      model: `models/${model}`,
      contents: [{ role: "user", parts: [{ text }] }],
      ...more,
    },
  };
}

const SHORT = "Hello.";
const LONG = "One, two, three, four, five, six, seven, eight, nine. ".repeat(9);

/** The words of each form of a prompt. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  short: [SHORT],
  long: [LONG.trim()],
  more: [SHORT, SYSTEM, TOOL.name, TOOL.description],
};

/** Runs for every format whose counts the target offers, on each route or on the first. */
async function onFormats(
  session: Session,
  routes: "first" | "all",
  play: (name: CountName, route: Route) => readonly Promise<unknown>[],
): Promise<void> {
  for (const name of NAMES) {
    const { feature, endpoint } = COUNT_FORMATS[name];
    if (session.profile.lacks.has(feature)) continue;
    const all = session.routes(endpoint);
    for (const route of routes === "all" ? all : all.slice(0, 1)) {
      await Promise.all(play(name, route));
    }
  }
}

export const COUNTS_SCENARIOS: readonly Scenario[] = [
  {
    name: "counts",
    about: "Counts of a short prompt, a long one, and one with a tool",
    mode: "both",
    cost: free(3 * NAMES.length),
    play: (session) =>
      onFormats(session, "all", (name, route) => {
        const send = (form: string, words: string, more?: JsonObject) =>
          session.send(
            countRequest(
              name,
              route,
              form,
              session.prompt("text", words),
              more,
            ),
          );
        const short = session.prompt("text", SHORT);
        return [
          send("short", SHORT),
          send("long", LONG),
          session.send(
            countRequest(
              name,
              route,
              "more",
              short,
              MORE[name](route.model, short),
            ),
          ),
        ];
      }),
  },
  {
    name: "counts-same",
    about: "One prompt, counted at every address",
    mode: "replay",
    cost: free(0),
    play: (session) =>
      onFormats(session, "all", (name, route) => [
        session.send(countRequest(name, route, "same", LONG)),
        ...(name === "generate_content"
          ? [
            session.send(
              countRequest(
                name,
                route,
                "same-inside",
                LONG,
                inRequest(route.model, LONG),
              ),
            ),
          ]
          : []),
      ]),
  },
  {
    name: "counts-refused",
    about: "A count of nothing, of an unknown model, and without a key",
    mode: "both",
    cost: free(3 * NAMES.length),
    play: (session) =>
      onFormats(session, "first", (name, route) => {
        const usual = countRequest(name, route, "wrong", SHORT);
        const unknown = { ...route, model: "no-such-model-17" };
        return [
          session.send({
            ...usual,
            body: {
              json: {
                ...(name === "generate_content" ? {} : { model: route.model }),
                [MEMBERS[name]]: 7,
              },
            },
          }),
          session.send(countRequest(name, unknown, "unknown-model", SHORT)),
          session.send({
            ...countRequest(name, route, "no-key", SHORT),
            auth: "none",
          }),
        ];
      }),
  },
  {
    name: "counts-limited",
    about: "Counts whose vendor limits the rate",
    mode: "replay",
    cost: free(0),
    play: (session) =>
      onFormats(session, "all", (name, route) => [
        session.send(
          countRequest(
            name,
            route,
            "limited",
            session.prompt("status?code=429&after=7", SHORT),
          ),
        ),
      ]),
  },
];

/** The member of a request with the conversation. */
const MEMBERS: Readonly<Record<CountName, string>> = {
  messages: "messages",
  chat: "messages",
  responses: "input",
  generate_content: "contents",
};
