/** Mutants for the checks of the area `auth`. */
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { body401, repairing, typed401 } from "./hooks.ts";
import { AUTH_KEY_MUTANTS } from "./faults_keys.ts";

/** All mutants of the area `auth`. */
export const AUTH_MUTANTS: readonly Mutant[] = [
  {
    name: "x-api-key-ignored",
    about: "Only a bearer key is read",
    hooks: {
      key: (_, { request }) =>
        /^Bearer (.*)$/.exec(request.headers["authorization"] ?? "")?.[1],
    },
  },
  {
    name: "chat-takes-bearer-only",
    about: "The chat endpoint does not read x-api-key",
    hooks: {
      key: (key, { endpoint, request }) =>
        endpoint === "chat" && request.headers["x-api-key"] !== undefined
          ? undefined
          : key,
    },
  },
  {
    name: "bearer-ignored",
    about: "Only x-api-key is read",
    hooks: { key: (_, { request }) => request.headers["x-api-key"] },
  },
  {
    name: "auth-off",
    about: "Requests without a key are accepted",
    hooks: { admit: () => undefined },
  },
  {
    name: "models-public",
    about: "The model list requires no key",
    hooks: {
      admit: (problem, { endpoint, request }) =>
        endpoint === "models" && request.headers["x-api-key"] === undefined &&
          request.headers["authorization"] === undefined
          ? undefined
          : problem,
    },
  },
  {
    name: "any-key-ok",
    about: "Any key is accepted, but not a missing one",
    hooks: {
      admit: (problem) =>
        problem?.message.includes("missing") ? problem : undefined,
    },
  },
  {
    name: "key-by-prefix",
    about: "Only the first 12 characters of the key are compared",
    hooks: {
      admit: (problem, { request }) => {
        const shown = request.headers["x-api-key"] ??
          request.headers["authorization"] ?? "";
        return /^(Bearer )?sk-selftest/.test(shown) ? undefined : problem;
      },
    },
  },
  {
    name: "quotes-stripped",
    about: "Quotes around the key are removed",
    hooks: repairing((key) => key.replaceAll(/^["']|["']$/g, "")),
  },
  {
    name: "key-trimmed-as-unicode",
    about: "Characters that are not HTTP whitespace are trimmed from the key",
    hooks: repairing((key) => key.replaceAll(/[\s\u200b\ufffd]+$/g, "")),
  },
  {
    name: "key-unescaped",
    about: "An escaped newline (\\n) is removed from the key",
    hooks: repairing((key) => key.replaceAll("\\n", "")),
  },
  {
    name: "key-blanks-removed",
    about: "Spaces inside the key are removed",
    hooks: repairing((key) => key.replaceAll(" ", "")),
  },
  {
    name: "401-body-is-text",
    about: "The error is a string",
    hooks: body401(() => ({ error: "unauthorized" })),
  },
  {
    name: "401-type-of-chat",
    about: "The error type is the chat format's",
    hooks: body401((body) => ({
      ...body,
      error: { message: "no", type: "invalid_request_error" },
    })),
  },
  {
    name: "401-without-message",
    about: "The error has no message",
    hooks: body401((body) => ({
      ...body,
      error: { type: "authentication_error" },
    })),
  },
  {
    name: "401-message-empty",
    about: "The message is empty",
    hooks: body401((body) => ({
      ...body,
      error: { type: "authentication_error", message: "" },
    })),
  },
  {
    name: "401-message-object",
    about: "The message is an object",
    hooks: body401((body) => ({
      ...body,
      error: { type: "authentication_error", message: { text: "no" } },
    })),
  },
  {
    name: "401-without-top-type",
    about: "The body has no type beside error",
    hooks: body401(({ error }) => ({ error })),
  },
  {
    name: "401-top-type-on-messages-only",
    about: "On the chat endpoint the body has no type beside error",
    hooks: {
      reply: (reply, { endpoint }) =>
        reply.status === 401 && endpoint === "chat"
          ? { ...reply, body: { error: reply.body["error"] } }
          : reply,
    },
  },
  {
    name: "401-in-a-list",
    about: "The error is wrapped in an array",
    hooks: body401((body) => ({ ...body, error: [body["error"]] })),
  },
  {
    name: "401-empty-body",
    about: "The body is an empty object",
    hooks: body401(() => ({})),
  },
  {
    name: "401-as-text",
    about: "The refusal has the content type text/plain",
    hooks: typed401("text/plain", false),
  },
  {
    name: "401-as-html",
    about: "The refusal has the content type text/html",
    hooks: typed401("text/html; charset=utf-8", false),
  },
  {
    name: "stream-401-as-events",
    about: "The refusal of a stream has the content type text/event-stream",
    hooks: typed401("text/event-stream", true),
  },
  ...AUTH_KEY_MUTANTS,
];
