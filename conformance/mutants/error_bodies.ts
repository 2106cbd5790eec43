/** Mutants for the checks of the area `errors` about the bodies of refusals. */
import type { Hooks, JsonReply } from "../golden/hooks.ts";
import { type Json, type JsonObject, objectOf } from "../replay/json.ts";
import type { Mutant } from "./mutant.ts";
import { withAt } from "./change_reply.ts";

/** Changes refusals; of one endpoint when it is named. */
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

/** Changes one value of the body of refusals. */
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

/** The mutants. */
export const ERROR_BODY_MUTANTS: readonly Mutant[] = [
  {
    name: "error-with-stack",
    about: "Errors tell where in the program they come from",
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
    about: "The message of an error is the error once more, as JSON",
    hooks: withValue("error.message", ({ body }) => JSON.stringify(body)),
  },
  {
    name: "error-message-is-a-page",
    about: "The message of an error is a page of a proxy",
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
    about: "The message endpoint uses the chat format's word for a fault",
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
    about: "The field at fault is a list",
    hooks: withValue("error.param", ["messages", 0], "chat"),
  },
  {
    name: "chat-error-code-object",
    about: "The code of errors is an object",
    hooks: withValue("error.code", {}, "chat"),
  },
  {
    name: "error-request-id-of-another",
    about: "The body of errors names another request than the header",
    hooks: withValue("request_id", "req_0000000000000000000000ff"),
  },
  {
    name: "error-beside-a-reply",
    about: "Errors also hold an empty reply",
    hooks: refusal((reply) => ({
      ...reply,
      body: { ...reply.body, choices: [], content: [] },
    })),
  },
  {
    name: "error-blames-the-key",
    about: "Errors of the gateway's own key are told as the caller's",
    hooks: withValue("error.code", "invalid_api_key"),
  },
];
