/** Scenarios of the area `responses`: refused requests, and upstreams that fail. */
import { mapValues } from "@model-gateway/replay/map_values";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { free, type Scenario } from "../../suite/scenario.ts";
import { webSocketHandshake } from "../../suite/web_socket_handshake.ts";
import { FORMS, perRoute, requestOf, sendInBothForms } from "./requests.ts";

/** A member that a refusal must name, and the request with the mistake. */
interface WrongRequest {
  readonly body: Readonly<Record<string, Json | undefined>>;
  /** One of the values of `error.param` that name it. */
  readonly param: RegExp;
}

const wrong = (
  param: RegExp,
  body: WrongRequest["body"],
): WrongRequest => ({ param, body });

export const WRONG: Readonly<Record<string, WrongRequest>> = {
  "no-model": wrong(/^model$/, { model: undefined }),
  "no-input": wrong(/^input$/, { input: undefined }),
  "input-number": wrong(/^input$/, { input: 7 }),
  "item-text": wrong(/^input\[1\]/, {
    input: [{ role: "user", content: "Hi" }, "Hi"],
  }),
  "role-robot": wrong(/^input\[0\]/, {
    input: [{ role: "robot", content: "Hi" }],
  }),
  "part-unknown": wrong(/^input\[0\]\.content\[1\]/, {
    input: [{
      role: "user",
      content: [{ type: "input_text", text: "Hi" }, { type: "smell" }],
    }],
  }),
  "temperature-text": wrong(/^temperature$/, { temperature: "hot" }),
  "tokens-half": wrong(/^max_output_tokens$/, { max_output_tokens: 20.5 }),
  "stream-text": wrong(/^stream$/, { stream: "yes" }),
};

/** Requests for what this gateway does not do: an error, never an ordinary reply. */
export const UNSERVED: Readonly<Record<string, WrongRequest>> = {
  background: wrong(/^background$/, { background: true }),
  conversation: wrong(/^conversation$/, { conversation: "conv_1" }),
  template: wrong(/^prompt/, { prompt: { id: "pmpt_1" } }),
  compaction: wrong(/^input\[1\]/, {
    input: [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }],
  }),
  "hosted-alone": wrong(/^tool/, { tools: [{ type: "web_search" }] }),
  "file-id": wrong(/^input\[0\]\.content\[0\]/, {
    input: [{
      role: "user",
      content: [{ type: "input_image", file_id: "file-1", detail: "auto" }],
    }],
  }),
};

export const UNKNOWN_IDS: Readonly<Record<string, WrongRequest>> = {
  previous: wrong(/^previous_response_id$/, {
    previous_response_id: "resp_0000000000000000000000000000",
  }),
  reference: wrong(/^input\[0\]/, {
    input: [
      { type: "item_reference", id: "msg_0000000000000000000000000000" },
      { role: "user", content: "Hi" },
    ],
  }),
};

/** Both ways to name earlier turns at once. */
const BOTH: Readonly<Record<string, WrongRequest>> = {
  both: wrong(/./, {
    previous_response_id: "resp_0000000000000000000000000000",
    conversation: "conv_1",
  }),
};

function sendEach(
  requests: Readonly<Record<string, WrongRequest>>,
): Scenario["play"] {
  return async (session) => {
    const [route] = session.routes("responses");
    if (route === undefined) return;
    for (const [name, { body }] of Object.entries(requests)) {
      const { body: _, ...request } = requestOf(route, "whole", name, {});
      await session.send({
        ...request,
        body: {
          json: {
            model: route.model,
            max_output_tokens: 16,
            input: "Hello.",
            ...body,
          },
        },
      });
    }
  };
}

/** Upstream failures before the first frame: the fixture, by the name of the request. */
export const BEFORE: Readonly<Record<string, string>> = {
  overflow: "context-overflow",
  "rate-limit": "status?code=429&after=7",
  overloaded: "status?code=503",
  failing: "status?code=500",
};

/** Upstream failures inside a stream. */
export const INSIDE: Readonly<Record<string, string>> = {
  "error-mid": "error-mid",
  cut: "text?frames=5&end=fin",
  reset: "text?frames=5&end=rst",
};

const fixturesOf = (
  names: Readonly<Record<string, string>>,
): Scenario["play"] =>
(session) =>
  sendInBothForms(
    session,
    mapValues(names, (fixture) => (): JsonObject => ({
      input: session.prompt(fixture, "Say something."),
    })),
    names === INSIDE ? ["stream"] : FORMS,
  );

/** Most that refused requests cost where a target answers them after all. */
function few(requests: number): Scenario["cost"] {
  return () => ({
    requests,
    inputTokens: requests * 120,
    outputTokens: requests * 16,
  });
}

export const RESPONSES_REFUSAL_SCENARIOS: readonly Scenario[] = [
  {
    name: "responses-wrong",
    about: "Requests with one mistake each",
    mode: "both",
    cost: few(Object.keys(WRONG).length + 1),
    play: sendEach({ ...WRONG, ...BOTH }),
  },
  {
    name: "responses-unserved",
    about: "Requests for features that need a server with jobs and files",
    mode: "both",
    cost: few(Object.keys(UNSERVED).length),
    play: sendEach(UNSERVED),
  },
  {
    name: "responses-unknown-ids",
    about: "References to replies and items that do not exist",
    mode: "both",
    cost: few(Object.keys(UNKNOWN_IDS).length + 2),
    async play(session) {
      await sendEach(UNKNOWN_IDS)(session);
      for (const method of ["GET", "DELETE"]) {
        await session.send({
          label: `responses/any/${method}/unknown`,
          endpoint: "responses",
          method,
          path: "/v1/responses/resp_0000000000000000000000000000",
        });
      }
    },
  },
  {
    name: "responses-methods",
    about: "A web socket, another method, another model, no key",
    mode: "both",
    cost: free(4),
    async play(session) {
      const one = { endpoint: "responses", method: "GET" } as const;
      await session.send(
        webSocketHandshake(session.key, "responses/any/GET/socket"),
      );
      await session.send({ ...one, label: "responses/any/GET/plain" });
      const body = { json: { model: "no-such-model-17", input: "Hello." } };
      await session.send({
        endpoint: "responses",
        label: "responses/any/POST/no-model",
        body,
      });
      await session.send({
        endpoint: "responses",
        label: "responses/any/POST/no-key",
        auth: "none",
        body,
      });
    },
  },
  {
    name: "responses-failures",
    about: "Upstreams that refuse a request",
    mode: "replay",
    cost: perRoute(2 * Object.keys(BEFORE).length),
    play: fixturesOf(BEFORE),
  },
  {
    name: "responses-broken",
    about: "Upstreams that fail inside a stream",
    mode: "replay",
    cost: perRoute(Object.keys(INSIDE).length),
    play: fixturesOf(INSIDE),
  },
];
