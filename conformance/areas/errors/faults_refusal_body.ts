/** Mutants for the checks of the area `errors` about the bodies of refusals. */
import type { Hooks, JsonReply } from "../../reference_gateway/hooks.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";

/** Changes refusals; only those of one endpoint when it is given. */
function refusal(
  change: (reply: JsonReply) => JsonReply,
  endpoint?: "messages" | "chat",
): Hooks {
  return {
    reply: (reply, x) =>
      reply.status >= 400 && (endpoint ?? x.endpoint) === x.endpoint
        ? change(reply)
        : reply,
  };
}

/** Changes one value in the body of refusals. */
function withValue(
  path: string,
  value: Json | undefined | ((reply: JsonReply) => Json),
  endpoint?: "messages" | "chat",
): Hooks {
  return refusal((reply) => ({
    ...reply,
    body: withAt(
      reply.body,
      path,
      typeof value === "function" ? value(reply) : value,
    ),
  }), endpoint);
}

function withType(type: string): Hooks {
  return refusal((reply) => ({
    ...reply,
    headers: { ...reply.headers, "content-type": type },
  }));
}

function without(body: JsonObject, name: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([key]) => key !== name),
  );
}

/** Part of `ERRORS_MUTANTS`. */
export const REFUSAL_BODY_MUTANTS: readonly Mutant[] = [
  {
    name: "error-with-stack",
    about: "Errors contain a stack trace",
    hooks: withValue(
      "error.stack",
      "Error: no\n    at handle (gateway.ts:10:3)",
    ),
  },
  {
    name: "error-as-text-plain",
    about: "Errors come as text/plain",
    hooks: withType("text/plain; charset=utf-8"),
  },
  {
    name: "error-as-html",
    about: "Errors come as text/html",
    hooks: withType("text/html"),
  },
  {
    name: "error-is-a-string",
    about: "The error is a string in place of an object",
    hooks: withValue(
      "error",
      ({ body }) => objectOf(body["error"])["message"] ?? "",
    ),
  },
  {
    name: "error-message-empty",
    about: "The message of errors is empty",
    hooks: withValue("error.message", ""),
  },
  {
    name: "error-message-missing",
    about: "Errors have no message",
    hooks: refusal((reply) => ({
      ...reply,
      body: {
        ...reply.body,
        error: without(objectOf(reply.body["error"]), "message"),
      },
    })),
  },
  {
    name: "error-message-is-json",
    about: "The message of an error contains the error again, as JSON",
    hooks: withValue("error.message", ({ body }) => JSON.stringify(body)),
  },
  {
    name: "error-message-is-a-page",
    about: "The message of an error is the HTML page of a proxy",
    hooks: withValue(
      "error.message",
      "<html><body><h1>Bad request</h1></body></html>",
    ),
  },
  {
    name: "error-message-is-a-list",
    about: "The message of an error is a list",
    hooks: withValue("error.message", ["bad request"]),
  },
  {
    name: "error-type-missing",
    about: "Errors have no type",
    hooks: refusal((reply) => ({
      ...reply,
      body: {
        ...reply.body,
        error: without(objectOf(reply.body["error"]), "type"),
      },
    })),
  },
  {
    name: "error-type-None",
    about: "The type of errors is the word None",
    hooks: withValue("error.type", "None"),
  },
  {
    name: "error-envelope-lost",
    about: "Errors of the message endpoint have no type beside the error",
    hooks: refusal(
      (reply) => ({ ...reply, body: without(reply.body, "type") }),
      "messages",
    ),
  },
  {
    name: "error-type-server_error",
    about: "The message endpoint uses the chat format's error type",
    hooks: withValue("error.type", "server_error", "messages"),
  },
  {
    name: "error-type-always-api_error",
    about: "All errors are of the type api_error",
    hooks: withValue("error.type", "api_error"),
  },
  {
    name: "error-type-always-invalid",
    about: "All errors are of the type invalid_request_error",
    hooks: withValue("error.type", "invalid_request_error"),
  },
  {
    name: "chat-error-param-list",
    about: "error.param is a list",
    hooks: withValue("error.param", ["messages", 0], "chat"),
  },
  {
    name: "chat-error-code-object",
    about: "The code of errors is an object",
    hooks: withValue("error.code", {}, "chat"),
  },
  {
    name: "error-request-id-of-another",
    about: "The body of errors has another request id than the header",
    hooks: withValue("request_id", "req_0000000000000000000000ff"),
  },
  {
    name: "error-beside-a-reply",
    about: "Errors also contain an empty reply",
    hooks: refusal((reply) => ({
      ...reply,
      body: { ...reply.body, choices: [], content: [] },
    })),
  },
  {
    name: "error-blames-the-key",
    about: "Errors about the gateway's own key blame the client's key",
    hooks: withValue("error.code", "invalid_api_key"),
  },
];
