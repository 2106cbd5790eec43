/** Scenarios of the area `generate_content`: the forms of requests, functions and settings. */
import { PIXEL } from "../upstream/scenarios_request.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { listAt } from "../../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import {
  contentCost,
  contentPath,
  contentRequest,
  contents,
  sendContents,
} from "../../suite/content_requests.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";

/** Texts that a request holds in certain places. */
export const PLACED = {
  system: "Answer in one word.",
  first: "The first question.",
  answer: "The first answer.",
} as const;

export const PICTURE_ADDRESS = "https://example.com/picture.png";

export const SETTINGS = {
  maxOutputTokens: 31,
  temperature: 0.5,
  stopSequences: ["END", "STOP"],
} as const;

/** The share of the likeliest tokens that a request allows. */
export const TOP_P = 0.9;

/** Settings that only some models take. */
export const TUNING = {
  topK: 7,
  seed: 4711,
  presencePenalty: 0.25,
  frequencyPenalty: -0.25,
} as const;

export const EFFORT = "LOW";

/** A function whose schema is in the format's own kind, and one with a JSON schema. */
const WEATHER: JsonObject = {
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "OBJECT",
    properties: { city: { type: "STRING", description: "The city." } },
    required: ["city"],
  },
};
const TIME: JsonObject = {
  name: "get_time",
  description: "The time in a city.",
  parametersJsonSchema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

function declared(...functions: readonly JsonObject[]): JsonObject {
  return { tools: [{ functionDeclarations: functions }] };
}

function calling(mode: string, names?: readonly string[]): JsonObject {
  return {
    toolConfig: {
      functionCallingConfig: {
        mode,
        ...(names === undefined ? {} : { allowedFunctionNames: names }),
      },
    },
  };
}

const BOTH = declared(TIME, WEATHER);

/** Requests whose mode decides the reply, by name. */
const MODES: Readonly<Record<string, JsonObject>> = {
  auto: { ...BOTH, ...calling("AUTO") },
  any: { ...declared(WEATHER), ...calling("ANY") },
  named: { ...BOTH, ...calling("ANY", ["get_weather"]) },
  none: { ...declared(WEATHER), ...calling("NONE") },
  validated: { ...declared(TIME), ...calling("VALIDATED") },
};

const SCHEMA: JsonObject = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
};
const OWN_SCHEMA: JsonObject = {
  type: "OBJECT",
  properties: { city: { type: "STRING" }, days: { type: "INTEGER" } },
  required: ["city", "days"],
};
const JSON_TYPE = { responseMimeType: "application/json" };

/** Forms of a request for JSON, by name. */
const JSON_FORMS: Readonly<Record<string, JsonObject>> = {
  "json-schema": { ...JSON_TYPE, responseJsonSchema: SCHEMA },
  "own-schema": { ...JSON_TYPE, responseSchema: OWN_SCHEMA },
};

const turn = (role: string, ...parts: readonly JsonObject[]): JsonObject => ({
  role,
  parts,
});

/** Forms of a request with a user turn at its end, by name. */
function requestForms(session: Session): Record<string, () => JsonObject> {
  const words = (): JsonObject => ({
    text: session.prompt("text", "Say something."),
  });
  const { system, first, answer } = PLACED;
  return {
    turns: () => ({
      contents: [
        turn("user", { text: first }),
        turn("model", { text: answer }),
        turn("user", words()),
      ],
    }),
    "no-role": () => ({ contents: [{ parts: [words()] }] }),
    parts: () => ({ contents: [turn("user", { text: first }, words())] }),
    system: () => ({
      contents: [turn("user", words())],
      systemInstruction: { parts: [{ text: system }] },
    }),
    ...(session.mode === "live" ? {} : {
      settings: () => ({
        contents: [turn("user", words())],
        generationConfig: SETTINGS,
      }),
      // Vendors refuse it beside a temperature.
      "top-p": () => ({
        contents: [turn("user", words())],
        generationConfig: { maxOutputTokens: 32, topP: TOP_P },
      }),
      tuning: () => ({
        contents: [turn("user", words())],
        generationConfig: { maxOutputTokens: 32, ...TUNING },
      }),
      // Some vendors take no sampling settings beside it.
      effort: () => ({
        contents: [turn("user", words())],
        generationConfig: {
          maxOutputTokens: 32,
          thinkingConfig: { thinkingLevel: EFFORT },
        },
      }),
    }),
    "other-spelling": () => ({
      generationConfig: undefined,
      contents: [turn("user", words())],
      system_instruction: { parts: [{ text: system }] },
      generation_config: {
        max_output_tokens: SETTINGS.maxOutputTokens,
      },
    }),
  };
}

/** Requests with media; a real model may have none. */
function mediaForms(session: Session): Record<string, () => JsonObject> {
  const words = (): JsonObject => ({
    text: session.prompt("text", "What is this?"),
  });
  return {
    inline: () => ({
      contents: [
        turn("user", words(), {
          inlineData: { mimeType: "image/png", data: PIXEL },
        }),
      ],
    }),
    file: () => ({
      contents: [
        turn("user", words(), {
          fileData: { mimeType: "image/png", fileUri: PICTURE_ADDRESS },
        }),
      ],
    }),
  };
}

const call = (city: string, id?: string): JsonObject => ({
  functionCall: {
    ...(id === undefined ? {} : { id }),
    name: "get_weather",
    args: { city },
  },
});
const answered = (text: string, id?: string): JsonObject => ({
  functionResponse: {
    ...(id === undefined ? {} : { id }),
    name: "get_weather",
    response: { output: text },
  },
});

/** Conversations with calls; with ids the results are in another order than the calls. */
function histories(session: Session): Record<string, () => JsonObject> {
  const asked = (...turns: readonly JsonObject[]) => (): JsonObject => ({
    ...declared(WEATHER),
    contents: [
      turn("user", { text: "The weather in both cities." }),
      ...turns,
      turn("user", { text: session.prompt("text", "Go on.") }),
    ],
  });
  return {
    "with-ids": asked(
      turn("model", call("Paris", "call_1"), call("Tokyo", "call_2")),
      turn(
        "user",
        answered("20 degrees in Tokyo", "call_2"),
        answered("12 degrees in Paris", "call_1"),
      ),
    ),
    "without-ids": asked(
      turn("model", call("Paris"), call("Tokyo")),
      turn(
        "user",
        answered("12 degrees in Paris"),
        answered("20 degrees in Tokyo"),
      ),
    ),
  };
}

/** Members of a request that the replay upstream answers as the request demands. */
function demanding(session: Session, words: string): JsonObject {
  return {
    systemInstruction: {
      parts: [{ text: session.prompt("text", "Do what is asked.") }],
    },
    contents: [turn("user", { text: words })],
  };
}

export const GENERATE_CONTENT_REQUEST_SCENARIOS: readonly Scenario[] = [
  {
    name: "generate-content-requests",
    about: "Every form of a request of the generate-content format",
    mode: "both",
    cost: contentCost(8),
    play: (session) => sendContents(session, requestForms(session), ["whole"]),
  },
  {
    name: "generate-content-media",
    about: "A picture as data and by its address",
    mode: "replay",
    cost: contentCost(2),
    play: (session) => sendContents(session, mediaForms(session), ["whole"]),
  },
  {
    name: "generate-content-modes",
    about: "Functions, with a mode that decides the reply",
    mode: "both",
    cost: contentCost(Object.keys(MODES).length),
    play: (session) =>
      sendContents(
        session,
        mapValues(MODES, (members) => () => ({
          ...demanding(session, "The weather in Paris."),
          ...members,
        })),
        ["stream"],
      ),
  },
  {
    name: "generate-content-history",
    about: "Calls and their results, with ids and without",
    mode: "replay",
    cost: contentCost(2),
    play: (session) => sendContents(session, histories(session), ["whole"]),
  },
  {
    name: "generate-content-json",
    about: "Replies that must be JSON",
    mode: "both",
    cost: contentCost(Object.keys(JSON_FORMS).length),
    play: (session) =>
      sendContents(
        session,
        mapValues(JSON_FORMS, (config) => () => ({
          ...demanding(session, "Paris, three days, as JSON."),
          generationConfig: { maxOutputTokens: 32, ...config },
        })),
        ["whole"],
      ),
  },
  {
    name: "generate-content-signatures",
    about: "A reply with a signature, and the request that repeats it",
    mode: "replay",
    cost: contentCost(2),
    async play(session) {
      for (const route of session.routes("generate_content")) {
        const first = turn("user", {
          text: session.prompt("thinking-tool", "The weather in Lima."),
        });
        const reply = await session.send(
          contentRequest(route, "whole", "signed", {
            contents: [first],
            ...declared(WEATHER),
            generationConfig: {
              maxOutputTokens: 32,
              thinkingConfig: { includeThoughts: true },
            },
          }),
        );
        const parts: readonly Json[] = listAt(
          reply.json,
          "candidates.0.content.parts",
        );
        await session.send(contentRequest(route, "whole", "repeated", {
          contents: [
            first,
            { role: "model", parts },
            turn("user", answered("12 degrees")),
            turn("user", { text: session.prompt("text", "Go on.") }),
          ],
          ...declared(WEATHER),
        }));
      }
    },
  },
  {
    name: "generate-content-keys",
    about: "The key in each of its places",
    mode: "both",
    cost: contentCost(3, 16),
    async play(session) {
      for (const route of session.routes("generate_content").slice(0, 1)) {
        const body = (): JsonObject => ({
          ...contents(session.prompt("text", "Say something.")),
          generationConfig: { maxOutputTokens: 16 },
        });
        const send = (
          name: string,
          more: Partial<Parameters<typeof session.send>[0]>,
        ) =>
          session.send({
            ...contentRequest(route, "whole", name, body()),
            ...more,
          });
        await send("header", { auth: "x-goog-api-key" });
        await send("bearer", { auth: "bearer" });
        await send("query", {
          auth: "none",
          path: contentPath(
            route.model,
            `:generateContent?key=${encodeURIComponent(session.key)}`,
          ),
        });
      }
    },
  },
];
