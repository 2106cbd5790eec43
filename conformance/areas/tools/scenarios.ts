/** Scenarios of the area `tools`: calls in replies, and tools in requests upstream. */
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { JsonObject } from "@model-gateway/replay/json";
import {
  type Generation,
  plainRequest,
  streamed,
  toolsFor,
} from "../../suite/requests.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import { onRoutes } from "../../suite/on_routes.ts";
import { TOOL_HISTORY_SCENARIOS } from "./scenarios_history.ts";
import { TOOL_REQUEST_SCENARIOS } from "./scenarios_requests.ts";

/**
 * Fixtures with tool calls, whole and streamed; labels are `ENDPOINT/ROUTE/whole|stream/FIXTURE`.
 */
function fixtures(
  name: string,
  about: string,
  names: readonly string[],
  more: Readonly<Partial<Record<Generation, JsonObject>>> = {},
): Scenario {
  return {
    name,
    about,
    mode: "replay",
    cost: perRoute(2 * names.length, 64),
    play: (session) =>
      onRoutes(
        session,
        (endpoint, route) =>
          names.flatMap((fixture) =>
            [true, false].map((stream) =>
              session.send(plainRequest(
                endpoint,
                route,
                `${stream ? "stream" : "whole"}/${fixture}`,
                session.prompt(fixture, "Use the tools."),
                {
                  ...toolsOf(endpoint, fixture),
                  ...more[endpoint],
                  ...(stream ? streamed(endpoint) : {}),
                },
              ))
            )
          ),
      ),
  };
}

function toolsOf(endpoint: Generation, fixture: string): JsonObject {
  const tools = WRITTEN.get(fixture)?.content.tools ?? [];
  return toolsFor(endpoint, [...new Set(tools.map(({ name }) => name))]);
}

/** The schema of a text. */
const SCHEMA: JsonObject = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

export const FORCED_TOOL = "get_time";

/** Ways to force a call: of one tool, or of any. */
const DEMANDS: Readonly<
  Record<Generation, Readonly<Record<string, JsonObject>>>
> = {
  messages: {
    named: { tool_choice: { type: "tool", name: FORCED_TOOL } },
    any: { tool_choice: { type: "any" } },
  },
  chat: {
    named: {
      tool_choice: { type: "function", function: { name: FORCED_TOOL } },
    },
    any: { tool_choice: "required" },
  },
};

export const FORCED: Scenario = {
  name: "tool-forced",
  about: "Forced calls, of one tool and of any, whole and streamed",
  mode: "both",
  cost: perRoute(4, 256, 200),
  play: (session) =>
    onRoutes(
      session,
      (endpoint, route) =>
        Object.entries(DEMANDS[endpoint]).flatMap(([form, demand]) =>
          [true, false].map((stream) =>
            session.send(plainRequest(
              endpoint,
              route,
              `${stream ? "stream" : "whole"}/${form}`,
              // No fixture is named: the replay upstream calls a tool only when it is forced to.
              "What time is it in Paris?",
              {
                ...toolsFor(endpoint, ["get_weather", FORCED_TOOL]),
                ...demand,
                ...(stream ? streamed(endpoint) : {}),
                max_tokens: 256,
              },
            ))
          )
        ),
    ),
};

export const TOOLS_SCENARIOS: readonly Scenario[] = [
  fixtures("tool-calls", "One call, parallel calls, a call without arguments", [
    "tool",
    "tool-parallel",
    "tool-no-args",
  ]),
  fixtures("tool-oddities", "Calls beside text and in unusual pieces", [
    "tool-text",
    "text-tool-text",
    "tool-interleaved",
    "tool-unicode-args",
    "tool-whole",
    "thinking-tool",
    "tool-odd-args",
    "tool-many",
  ]),
  fixtures("tool-schema", "A call beside text, where texts have a schema", [
    "tool-text",
  ], {
    messages: {
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
    },
    chat: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "city", schema: SCHEMA, strict: true },
      },
    },
  }),
  fixtures("tool-sizes", "A call with 64 KiB of arguments", ["tool-big-args"]),
  {
    name: "tool-same-ids",
    about: "Parallel calls to which the upstream gave one id",
    mode: "replay",
    cost: perRoute(1, 64),
    play: (session) =>
      onRoutes(session, (endpoint, route) => [
        session.send(plainRequest(
          endpoint,
          route,
          "stream/same-ids",
          session.prompt("same-ids?of=tool-parallel", "Use the tools."),
          { ...toolsOf(endpoint, "tool-parallel"), ...streamed(endpoint) },
        )),
      ]),
  },
  FORCED,
  ...TOOL_REQUEST_SCENARIOS,
  ...TOOL_HISTORY_SCENARIOS,
];
