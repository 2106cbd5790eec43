/** The usual requests, so that a scenario describes only the differences. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { TestRequest } from "./test_request.ts";
import type { Session } from "./session.ts";
import type { Route } from "./route.ts";

/** The two generation endpoints. */
export const GENERATION = ["messages", "chat"] as const;

export type Generation = typeof GENERATION[number];

/** A plain request with one user turn; `more` adds members to the body or replaces them. */
export function plainRequest(
  endpoint: Generation,
  route: Route,
  form: string,
  content: string,
  more: JsonObject = {},
): TestRequest {
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

/** The members that request a stream; on the chat endpoint with usage. */
export function streamed(endpoint: Generation): JsonObject {
  return endpoint === "messages"
    ? { stream: true }
    : { stream: true, stream_options: { include_usage: true } };
}

/**
 * Requests a fixture on every route of both endpoints, whole and streamed; labels are
 * `ENDPOINT/ROUTE/whole` and `ENDPOINT/ROUTE/stream`.
 */
export async function requestOnAllRoutes(
  session: Session,
  fixture: string,
  words: string,
  more: (endpoint: Generation) => JsonObject = () => ({}),
): Promise<void> {
  for (const endpoint of GENERATION) {
    for (const route of session.routes(endpoint)) {
      await Promise.all([
        session.send(plainRequest(
          endpoint,
          route,
          "whole",
          session.prompt(fixture, words),
          more(endpoint),
        )),
        session.send(plainRequest(
          endpoint,
          route,
          "stream",
          session.prompt(fixture, words),
          { ...streamed(endpoint), ...more(endpoint) },
        )),
      ]);
    }
  }
}

/**
 * The first route of an endpoint.
 * @throws when there is none, which stops the scenario
 */
export function firstRoute(session: Session, endpoint: Generation): Route {
  const [route] = session.routes(endpoint);
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
  const schema = { type: "object", properties: { city: { type: "string" } } };
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
