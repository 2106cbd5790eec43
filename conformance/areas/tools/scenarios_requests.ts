/** Scenarios of the area `tools` about requests: definitions and choices. */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  type Generation,
  plainRequest,
  toolsFor,
} from "../../suite/requests.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { onRoutes } from "../../suite/on_routes.ts";

/**
 * A schema whose parts are easily lost: nesting, lists, choices, properties named like keywords.
 */
const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", description: "Named like a keyword." },
    properties: { type: "array", items: { type: "string" } },
    required: { type: "boolean" },
    description: { type: "string" },
    enum: { type: "string", enum: ["a", "b c", "ü"] },
    title: { type: "integer", description: 'Quotes " and \\ and é' },
    where: {
      type: "object",
      description: "Nested.",
      properties: {
        city: { type: "string" },
        spots: {
          type: "array",
          items: {
            type: "object",
            properties: { lat: { type: "number" }, lon: { type: "number" } },
            required: ["lat", "lon"],
          },
        },
      },
      required: ["city"],
    },
  },
  required: ["type", "where"],
  additionalProperties: false,
};

/** Definitions: the schema above, one without properties, and many more. */
const DEFINITIONS = [
  {
    name: "plan_trip",
    description: "Plans a trip. Über alles: 你好",
    schema: SCHEMA,
  },
  {
    name: "mcp__files__read-file_2",
    description: "",
    schema: { type: "object", properties: {} },
  },
  ...Array.from({ length: 30 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Tool number ${at}.`,
    schema: {
      type: "object",
      properties: { [`value_${at}`]: { type: "string" } },
      required: [`value_${at}`],
    },
  })),
];

function definitions(endpoint: Generation): JsonObject {
  return {
    tools: DEFINITIONS.map(({ name, description, schema }) => {
      const described = description === "" ? {} : { description };
      return endpoint === "messages"
        ? { name, ...described, input_schema: schema }
        : {
          type: "function",
          function: { name, ...described, parameters: schema },
        };
    }),
  };
}

const CHOICES: Readonly<
  Record<Generation, Readonly<Record<string, JsonObject>>>
> = {
  messages: {
    auto: { tool_choice: { type: "auto" } },
    any: { tool_choice: { type: "any" } },
    named: { tool_choice: { type: "tool", name: "get_time" } },
    none: { tool_choice: { type: "none" } },
    single: { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    "any-single": {
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    many: { tool_choice: { type: "auto", disable_parallel_tool_use: false } },
    unset: {},
  },
  chat: {
    auto: { tool_choice: "auto" },
    any: { tool_choice: "required" },
    named: {
      tool_choice: { type: "function", function: { name: "get_time" } },
    },
    none: { tool_choice: "none" },
    single: { parallel_tool_calls: false },
    "any-single": { tool_choice: "required", parallel_tool_calls: false },
    many: { parallel_tool_calls: true },
    unset: {},
  },
};

/** Number of forms of tool choices. */
const FORMS = Object.keys(CHOICES.chat).length;

const TOOLS = ["get_weather", "get_time"];

export const TOOL_REQUEST_SCENARIOS: readonly Scenario[] = [
  {
    name: "tool-definitions",
    about: "32 tools, one with a schema that is easily damaged",
    mode: "replay",
    cost: perRoute(1, 64),
    play: (session) =>
      onRoutes(session, (endpoint, route) => [session.send(plainRequest(
        endpoint,
        route,
        "definitions",
        session.prompt("text", "Say hello."),
        definitions(endpoint),
      ))]),
  },
  {
    name: "tool-choices",
    about: "Each way to force, allow or forbid calls",
    mode: "replay",
    cost: perRoute(FORMS, 64),
    play: (session) =>
      onRoutes(
        session,
        (endpoint, route) =>
          Object.entries(CHOICES[endpoint]).map(([form, choice]) =>
            session.send(plainRequest(
              endpoint,
              route,
              form,
              session.prompt("text", "Say hello."),
              { ...toolsFor(endpoint, TOOLS), ...choice },
            ))
          ),
      ),
  },
];
