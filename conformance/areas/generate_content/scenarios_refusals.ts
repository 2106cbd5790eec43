/** Scenarios of the area `generate_content`: refused requests, and upstreams that fail. */
import { BEFORE, INSIDE } from "../responses/scenarios_refusals.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import {
  CONTENT_FORMS,
  contentCost,
  type ContentForm,
  contentPath,
  contentRequest,
  contents,
  sendContents,
} from "../../suite/content_requests.ts";
import { free, type Scenario } from "../../suite/scenario.ts";

/** A request with one mistake, and the field that a refusal must name. */
export const WRONG: Readonly<
  Record<string, { readonly body: JsonObject; readonly field: RegExp }>
> = {
  "no-contents": { body: { contents: [] }, field: /^contents$/ },
  "role-robot": {
    body: { contents: [{ role: "robot", parts: [{ text: "Hi" }] }] },
    field: /^contents\[0\](\.role)?$/,
  },
  "parts-text": {
    body: { contents: [{ role: "user", parts: "Hi" }] },
    field: /^contents\[0\]\.parts$/,
  },
  "temperature-text": {
    body: { ...contents("Hi"), generationConfig: { temperature: "hot" } },
    field: /^generationConfig\.temperature$/,
  },
  "tokens-half": {
    body: { ...contents("Hi"), generationConfig: { maxOutputTokens: 20.5 } },
    field: /^generationConfig\.maxOutputTokens$/,
  },
  "mode-unknown": {
    body: {
      ...contents("Hi"),
      toolConfig: { functionCallingConfig: { mode: "SOMETIMES" } },
    },
    field: /^toolConfig\.functionCallingConfig\.mode$/,
  },
};

function failing(
  scenario: Pick<Scenario, "name" | "about">,
  fixtures: Readonly<Record<string, string>>,
  forms: readonly ContentForm[],
): Scenario {
  return {
    ...scenario,
    mode: "replay",
    cost: contentCost(3 * Object.keys(fixtures).length),
    play: (session) =>
      sendContents(
        session,
        mapValues(fixtures, (fixture) => () =>
          contents(session.prompt(fixture, "Say something."))),
        forms,
      ),
  };
}

export const GENERATE_CONTENT_REFUSAL_SCENARIOS: readonly Scenario[] = [
  {
    name: "generate-content-wrong",
    about: "Requests with one mistake each",
    mode: "both",
    cost: ({ generate_content: routes }) => ({
      requests: Math.min(routes.length, 1) * Object.keys(WRONG).length,
      inputTokens: Object.keys(WRONG).length * 100,
      outputTokens: Object.keys(WRONG).length * 32,
    }),
    async play(session) {
      for (const route of session.routes("generate_content").slice(0, 1)) {
        for (const [name, { body }] of Object.entries(WRONG)) {
          const request = contentRequest(route, "whole", name, {});
          const config = {
            maxOutputTokens: 16,
            ...objectOf(body["generationConfig"]),
          };
          await session.send({
            ...request,
            body: { json: { ...body, generationConfig: config } },
          });
        }
      }
    },
  },
  {
    name: "generate-content-refused",
    about: "Another model, no key, a wrong key, and an unknown verb",
    mode: "both",
    cost: free(4),
    async play(session) {
      const [route] = session.routes("generate_content");
      if (route === undefined) return;
      const post = (
        name: string,
        more: Partial<Parameters<typeof session.send>[0]>,
      ) =>
        session.send({
          endpoint: "generate_content",
          label: `generate_content/any/whole/${name}`,
          path: contentPath(route.model, ":generateContent"),
          body: { json: contents("Hello.") },
          ...more,
        });
      await post("unknown-model", {
        path: contentPath("no-such-model-17", ":generateContent"),
      });
      await post("no-key", { auth: "none" });
      await post("wrong-key", {
        auth: "none",
        headers: [[
          "x-goog-api-key",
          session.variant(`${session.key.slice(0, -1)}~`),
        ]],
      });
      await post("unknown-verb", {
        path: contentPath(route.model, ":dreamContent"),
      });
    },
  },
  failing(
    {
      name: "generate-content-failures",
      about: "Upstreams that refuse a request",
    },
    BEFORE,
    CONTENT_FORMS,
  ),
  failing(
    {
      name: "generate-content-broken",
      about: "Upstreams that fail inside a reply",
    },
    INSIDE,
    ["stream", "array"],
  ),
];
