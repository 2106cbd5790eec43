/** The endpoints that count the tokens of a request, one for each format of requests. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { TestRequest } from "./test_request.ts";
import type { Feature, Route, Routed } from "./route.ts";

/** How a format asks for a count. */
export interface CountFormat {
  /** The feature without which its checks are left out. */
  readonly feature: Feature;
  /** The endpoint whose requests are counted, and whose errors it has. */
  readonly endpoint: Routed;
  readonly path: (model: string) => string;
  /** The body of a request with one user turn, without the model where the path has it. */
  readonly body: (model: string, text: string) => JsonObject;
  /** The member of the reply with the count. */
  readonly member: string;
}

const user = (content: string): JsonObject => ({ role: "user", content });

/** The formats, by the word that ids of checks and labels have. */
export const COUNT_FORMATS = {
  messages: {
    feature: "message-counts",
    endpoint: "messages",
    path: () => "/v1/messages/count_tokens",
    body: (model, text) => ({ model, messages: [user(text)] }),
    member: "input_tokens",
  },
  chat: {
    feature: "chat-counts",
    endpoint: "chat",
    path: () => "/v1/chat/completions/input_tokens",
    body: (model, text) => ({ model, messages: [user(text)] }),
    member: "input_tokens",
  },
  responses: {
    feature: "response-counts",
    endpoint: "responses",
    path: () => "/v1/responses/input_tokens",
    body: (model, text) => ({ model, input: text }),
    member: "input_tokens",
  },
  generate_content: {
    feature: "content-counts",
    endpoint: "generate_content",
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:countTokens`,
    body: (_, text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    member: "totalTokens",
  },
} as const satisfies Readonly<Record<string, CountFormat>>;

export type CountName = keyof typeof COUNT_FORMATS;

/** A request for a count; `more` adds members to the body or replaces them. */
export function countRequest(
  name: CountName,
  route: Route,
  form: string,
  text: string,
  more: JsonObject = {},
): TestRequest {
  const format: CountFormat = COUNT_FORMATS[name];
  return {
    label: `${name}/${route.name}/${form}`,
    endpoint: format.endpoint,
    route,
    path: format.path(route.model),
    body: { json: { ...format.body(route.model, text), ...more } },
  };
}
