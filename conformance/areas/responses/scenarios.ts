/** Scenarios of the area `responses`: replies, the forms of requests, and tools. */
import { TRIP } from "../upstream/scenarios_request.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { PACE_SCENARIOS } from "../replies/scenarios_pace.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import type { Session } from "../../suite/session.ts";
import type { Scenario } from "../../suite/scenario.ts";
import {
  demanding,
  FEW_TOKENS,
  perRoute,
  requestOf,
  sendInBothForms,
  WEATHER,
} from "./requests.ts";
import { RESPONSES_REFUSAL_SCENARIOS } from "./scenarios_refusals.ts";
import { RESPONSES_HISTORY_SCENARIOS } from "./scenarios_history.ts";
import { RESPONSES_STATE_SCENARIOS } from "./scenarios_state.ts";
import { EXTRA_SCENARIOS } from "../replies/scenarios_extras.ts";
import { RESPONSES_UPSTREAM_SCENARIOS } from "./scenarios_upstream.ts";

/** Fixtures of every kind of item, for the rules of form. */
const KINDS = ["text", "thinking-tool", "tool-parallel", "max-tokens"];

const CONTENTS = [
  "text-tool-text",
  "tool-no-args",
  "refusal",
  "text-unicode",
  "tool-unicode-args",
  "tool-interleaved",
  "tool-text",
  "thinking",
  "cache-usage",
  "reasoning-usage",
  "text-blanks",
  "content-filter",
  "empty",
];

function fixtures(
  session: Session,
  names: readonly string[],
): Record<string, () => JsonObject> {
  return Object.fromEntries(names.map((name) => [
    name,
    () => ({
      input: session.prompt(name, "Say something."),
      ...(name.includes("tool") ? { tools: [WEATHER] } : {}),
    }),
  ]));
}

/** Texts that a request holds in certain places. */
export const PLACED = {
  instructions: "Answer in one word, says the instruction.",
  opening: "Be polite, says the opening.",
  later: "From now on be brief, says the later message.",
  first: "The first question.",
  answer: "The first answer.",
} as const;

const turn = (role: string, content: string): JsonObject => ({ role, content });

/** Forms of a request with one user turn at the end, by name. */
function requestForms(session: Session): Record<string, () => JsonObject> {
  const asked = (): string => session.prompt("text", "Say something.");
  const form = (
    input: (content: string) => unknown,
    more: JsonObject = {},
  ) =>
  () =>
    ({
      input: input(asked()),
      max_output_tokens: FEW_TOKENS,
      ...more,
    }) as JsonObject;
  const { first, answer, later, opening, instructions } = PLACED;
  return {
    string: form((content) => content),
    parts: form((text) => [{
      type: "message",
      role: "user",
      content: [{ type: "input_text", text }],
    }]),
    untyped: form((content) => [turn("user", content)]),
    turns: form((content) => [
      turn("user", first),
      {
        type: "message",
        id: "msg_0123456789",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: answer, annotations: [] }],
      },
      turn("user", content),
    ]),
    system: form((content) => [turn("system", opening), turn("user", content)]),
    developer: form(
      (content) => [turn("developer", opening), turn("user", content)],
      { instructions },
    ),
    later: form((content) => [
      turn("user", first),
      turn("assistant", answer),
      turn("developer", later),
      turn("user", content),
    ]),
  };
}

export const SETTINGS: JsonObject = {
  instructions: PLACED.instructions,
  metadata: { tenant: "a", run: "7" },
  tools: [WEATHER],
  tool_choice: "auto",
  parallel_tool_calls: false,
  max_output_tokens: 64,
  temperature: 1,
  safety_identifier: "user-17",
  prompt_cache_key: "cache-17",
  text: { format: { type: "text" } },
};

/** Settings that only some models take. */
export const TUNING = {
  effort: "low",
  verbosity: "low",
  presencePenalty: 0.25,
  frequencyPenalty: -0.25,
} as const;

export const MORE_SETTINGS: JsonObject = {
  top_p: 0.9,
  truncation: "auto",
  text: { format: { type: "text" }, verbosity: TUNING.verbosity },
  reasoning: { effort: TUNING.effort },
  presence_penalty: TUNING.presencePenalty,
  frequency_penalty: TUNING.frequencyPenalty,
  max_tool_calls: 5,
  top_logprobs: 2,
  store: false,
};

/** A tool with free text, and two groups with a tool of one name. */
const CUSTOM: JsonObject = {
  type: "custom",
  name: "apply_patch",
  description: "Applies a patch.",
};
const GROUPS: readonly JsonObject[] = ["north", "south"].map((name) => ({
  type: "namespace",
  name,
  description: `Tools of the ${name}.`,
  tools: [WEATHER],
}));
const FORCED = { type: "function", name: "get_weather" };
const TIME: JsonObject = { ...WEATHER, name: "get_time" };
const LONG_NAME =
  "get_weather_with_a_name_of_sixty_characters_and_some_more_xy";

/** Requests whose tool choice decides the reply, by name. */
export const CHOICES: Readonly<Record<string, JsonObject>> = {
  required: { tools: [WEATHER], tool_choice: "required" },
  named: { tools: [TIME, WEATHER], tool_choice: FORCED },
  allowed: {
    tools: [TIME, WEATHER],
    tool_choice: { type: "allowed_tools", mode: "required", tools: [FORCED] },
  },
  none: { tools: [WEATHER], tool_choice: "none" },
  single: {
    tools: [WEATHER],
    tool_choice: "auto",
    parallel_tool_calls: false,
  },
  custom: {
    tools: [CUSTOM],
    tool_choice: { type: "custom", name: "apply_patch" },
  },
  group: {
    tools: GROUPS,
    tool_choice: { ...FORCED, namespace: "south" },
  },
  "long-name": {
    tools: [{
      ...GROUPS[0],
      name: "a_group_of_tools_with_a_long_name",
      tools: [{ ...WEATHER, name: LONG_NAME }],
    }],
    tool_choice: "required",
  },
  hosted: {
    tools: [{ type: "web_search" }, WEATHER],
    tool_choice: "required",
  },
};

const TOOLS_AS_ITEM = {
  type: "additional_tools",
  role: "developer",
  tools: [WEATHER],
};

export const RESPONSES_SCENARIOS: readonly Scenario[] = [
  PACE_SCENARIOS.responses,
  {
    name: "responses-replies",
    about: "Replies of the Responses endpoint, whole and streamed",
    mode: "both",
    cost: perRoute(2),
    play: (session) =>
      sendInBothForms(
        session,
        fixtures(session, session.mode === "live" ? ["text"] : KINDS),
      ),
  },
  {
    name: "responses-contents",
    about: "Replies whose content is known",
    mode: "replay",
    cost: perRoute(2 * CONTENTS.length),
    play: (session) => sendInBothForms(session, fixtures(session, CONTENTS)),
  },
  {
    name: "responses-odd-calls",
    about: "Calls with one id, and a call with free text",
    mode: "replay",
    cost: perRoute(4),
    play: (session) =>
      sendInBothForms(session, {
        "same-ids": () => ({
          input: session.prompt("same-ids?of=tool-parallel", "Say something."),
          tools: [WEATHER],
        }),
        "free-text": () => ({
          input: session.prompt("tool-free-text", "Say something."),
          tools: [CUSTOM],
        }),
      }),
  },
  {
    name: "responses-forms",
    about: "Every form of the input of a request",
    mode: "both",
    cost: perRoute(7, FEW_TOKENS),
    play: (session) =>
      sendInBothForms(session, requestForms(session), ["whole"]),
  },
  {
    name: "responses-settings",
    about: "Settings that a reply repeats",
    mode: "both",
    cost: perRoute(2),
    play: (session) =>
      sendInBothForms(session, {
        settings: () => ({
          ...SETTINGS,
          input: session.prompt("text", "Say something."),
        }),
      }),
  },
  {
    name: "responses-more-settings",
    about: "Settings without their defaults, which a reply repeats",
    mode: "replay",
    cost: perRoute(2),
    play: (session) =>
      sendInBothForms(session, {
        "more-settings": () => ({
          ...MORE_SETTINGS,
          input: session.prompt("text", "Say something."),
        }),
      }),
  },
  {
    name: "responses-choices",
    about: "Tools of every kind, with a choice that decides the reply",
    mode: "both",
    cost: perRoute(Object.keys(CHOICES).length + 1),
    play: (session) =>
      sendInBothForms(session, {
        ...mapValues(CHOICES, (members) => () => ({
          ...demanding(session, "The weather in Paris, and a small patch."),
          ...members,
        })),
        "as-item": () => ({
          ...demanding(session, ""),
          input: [TOOLS_AS_ITEM, turn("user", "The weather in Paris.")],
          tool_choice: "required",
        }),
      }, session.mode === "live" ? ["stream"] : ["whole", "stream"]),
  },
  {
    name: "responses-formats",
    about: "Replies that must be JSON",
    mode: "both",
    cost: perRoute(2),
    async play(session) {
      for (const route of session.routes("responses")) {
        for (
          const [name, format] of Object.entries({
            schema: { type: "json_schema", name: "trip", schema: TRIP },
            object: { type: "json_object" },
          })
        ) {
          await session.send(
            requestOf(route, "whole", name, {
              ...demanding(session, "Paris, three days, as JSON."),
              text: { format },
            } as JsonObject),
          );
        }
      }
    },
  },
  ...RESPONSES_HISTORY_SCENARIOS,
  ...RESPONSES_REFUSAL_SCENARIOS,
  ...RESPONSES_STATE_SCENARIOS,
  ...RESPONSES_UPSTREAM_SCENARIOS,
  EXTRA_SCENARIOS.responses,
];
