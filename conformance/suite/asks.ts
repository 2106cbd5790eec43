/** The usual requests, so that a scenario says only what is special about its own. */
import type { JsonObject } from "../replay/json.ts";
import type { Ask, Lab } from "./lab.ts";
import type { Route } from "./scenario.ts";

/** The two generation endpoints. */
export const GENERATION = ["messages", "chat"] as const;

/** One generation endpoint. */
export type Generation = typeof GENERATION[number];

/** A plain request with one user turn; `more` adds to the body and replaces what is there. */
export function plainAsk(
  endpoint: Generation,
  route: Route,
  form: string,
  content: string,
  more: JsonObject = {},
): Ask {
  return {
    label: `${endpoint}/${route.name}/${form}`,
    endpoint,
    route,
    body: {
      json: {
        model: route.model,
        max_tokens: 64,
        messages: [{ role: "user", content }],
        ...more,
      },
    },
  };
}

/** The members that ask for a stream; on the chat endpoint with usage. */
export function streamed(endpoint: Generation): JsonObject {
  return endpoint === "messages"
    ? { stream: true }
    : { stream: true, stream_options: { include_usage: true } };
}

/**
 * Asks for a fixture on every route of both endpoints, whole and streamed; labels are `ENDPOINT/ROUTE/whole` and
 * `ENDPOINT/ROUTE/stream`.
 */
export async function askEverywhere(
  lab: Lab,
  fixture: string,
  words: string,
  more: (endpoint: Generation) => JsonObject = () => ({}),
): Promise<void> {
  for (const endpoint of GENERATION) {
    for (const route of lab.routes(endpoint)) {
      await Promise.all([
        lab.send(plainAsk(
          endpoint,
          route,
          "whole",
          lab.prompt(fixture, words),
          more(endpoint),
        )),
        lab.send(plainAsk(
          endpoint,
          route,
          "stream",
          lab.prompt(fixture, words),
          { ...streamed(endpoint), ...more(endpoint) },
        )),
      ]);
    }
  }
}

/** The first route of an endpoint; a scenario stops when there is none. */
export function firstRoute(lab: Lab, endpoint: Generation): Route {
  const [route] = lab.routes(endpoint);
  if (route === undefined) {
    throw new Error(
      `no model of the target answers on the ${endpoint} endpoint`,
    );
  }
  return route;
}

/** A tool of the message format and the same tool of the chat format. */
export function toolsFor(
  endpoint: Generation,
  names: readonly string[],
): JsonObject {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
  };
  return {
    tools: names.map((name) =>
      endpoint === "messages"
        ? { name, description: "A tool.", input_schema: schema }
        : {
          type: "function",
          function: { name, description: "A tool.", parameters: schema },
        }
    ),
  };
}
