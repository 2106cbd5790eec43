/** Mutants for the checks of the area `limits`. */
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import {
  field,
  overlooking,
  refusalBody,
  refusing,
  repairing,
} from "./hooks.ts";
import { INPUT_TOKEN_MUTANTS } from "./faults_input_tokens.ts";
import { LIMITS_REPORTED_MUTANTS } from "./faults_reported.ts";
import { REQUEST_FORM_MUTANTS } from "./faults_request_forms.ts";
import { STOP_STRING_MUTANTS } from "./faults_stop_strings.ts";
import { LIMITS_UPSTREAM_MUTANTS } from "./faults_upstream.ts";

/** All mutants of the area `limits`. */
export const LIMITS_MUTANTS: readonly Mutant[] = [
  {
    name: "max_tokens-has-default",
    about: "max_tokens is optional on the message endpoint",
    hooks: repairing((body) => ({ max_tokens: 64, ...body })),
  },
  {
    name: "max_tokens-default-in-streams",
    about: "max_tokens is optional in a streamed request",
    hooks: repairing((body) =>
      body["stream"] === true ? { max_tokens: 64, ...body } : body
    ),
  },
  {
    name: "chat-needs-max_tokens",
    about: "max_tokens is required on the chat endpoint",
    hooks: refusing(
      "max_tokens",
      (body, { endpoint }) =>
        endpoint === "chat" && body["max_tokens"] === undefined,
    ),
  },
  {
    name: "chat-streams-need-max_tokens",
    about: "max_tokens is required in a streamed chat request",
    hooks: refusing(
      "max_tokens",
      (body, { endpoint }) =>
        endpoint === "chat" && body["stream"] === true &&
        body["max_tokens"] === undefined,
    ),
  },
  {
    name: "max_tokens-coerced",
    about: "A string is accepted as a number",
    hooks: repairing((body) => field(body, "max_tokens", (value) => value)),
  },
  {
    name: "max_tokens-rounded",
    about: "A fraction is rounded",
    hooks: repairing((body) =>
      typeof body["max_tokens"] === "number"
        ? field(body, "max_tokens", Math.ceil)
        : body
    ),
  },
  {
    name: "max_tokens-negative-ok",
    about: "A negative limit is read as no limit",
    hooks: overlooking((body) => body["max_tokens"] === -1),
  },
  {
    name: "temperature-unchecked",
    about: "Any temperature is accepted",
    hooks: repairing(({ temperature, ...body }) =>
      typeof temperature === "number" && temperature >= 0 && temperature <= 1
        ? { ...body, temperature }
        : body
    ),
  },
  {
    name: "temperature-of-chat-on-messages",
    about: "The message endpoint accepts temperatures up to 2",
    hooks: overlooking((body, { endpoint }) =>
      endpoint === "messages" && typeof body["temperature"] === "number" &&
      body["temperature"] > 1 && body["temperature"] <= 2
    ),
  },
  {
    name: "temperature-clamped",
    about: "A temperature outside its range is clamped",
    hooks: repairing((body, { endpoint }) =>
      typeof body["temperature"] === "number"
        ? field(
          body,
          "temperature",
          (value) => Math.max(0, Math.min(value, endpoint === "chat" ? 2 : 1)),
        )
        : body
    ),
  },
  {
    name: "temperature-below-ok",
    about: "A negative temperature is read as zero",
    hooks: repairing((body) =>
      typeof body["temperature"] === "number"
        ? field(body, "temperature", (value) => Math.max(0, value))
        : body
    ),
  },
  {
    name: "temperature-coerced",
    about: "A string is accepted as a temperature",
    hooks: repairing((body) => field(body, "temperature", (value) => value)),
  },
  {
    name: "temperature-zero-refused",
    about: "Temperature zero is refused",
    hooks: refusing("temperature", (body) => body["temperature"] === 0),
  },
  {
    name: "temperature-one-refused",
    about: "The range of the temperature ends below 1",
    hooks: refusing("temperature", (body) => body["temperature"] === 1),
  },
  {
    name: "temperature-two-refused",
    about: "The range of the temperature ends below 2",
    hooks: refusing("temperature", (body) => body["temperature"] === 2),
  },
  {
    name: "temperature-of-messages-on-chat",
    about: "The chat endpoint accepts temperatures only up to 1",
    hooks: refusing("temperature", (body) => Number(body["temperature"]) > 1),
  },
  {
    name: "top_p-refused",
    about: "top_p is refused",
    hooks: refusing("top_p", (body) => body["top_p"] !== undefined),
  },
  {
    name: "both-samplings-500",
    about: "top_p beside temperature causes a server error",
    hooks: {
      accept: (problem, body) =>
        body["top_p"] !== undefined && body["temperature"] !== undefined
          ? problemOf(500, "failed")
          : problem,
    },
  },
  {
    name: "chat-system-dropped",
    about: "A top-level system is dropped silently",
    hooks: repairing(({ system: _, ...body }) => body),
  },
  {
    name: "chat-system-blocks-dropped",
    about: "A top-level system of blocks is dropped silently",
    hooks: repairing((body) => {
      const { system, ...rest } = body;
      return Array.isArray(system) ? rest : body;
    }),
  },
  {
    name: "chat-system-first-refused",
    about: "A system entry is refused",
    hooks: refusing(
      "messages",
      (body) =>
        JSON.stringify(body["messages"] ?? "").includes('"role":"system"'),
    ),
  },
  {
    name: "refusal-without-field",
    about: "A refusal does not name the wrong field",
    hooks: {
      problem: ({ param: _, ...problem }) =>
        problem.status === 400
          ? { ...problem, message: "The request is invalid" }
          : problem,
    },
  },
  {
    name: "refusal-names-other-field",
    about: "A refusal always names `messages`",
    hooks: {
      problem: ({ param: _, ...problem }) =>
        problem.status === 400
          ? { ...problem, message: "messages: wrong" }
          : problem,
    },
  },
  {
    name: "refusal-type-api_error",
    about: "A refusal is an api_error",
    hooks: {
      problem: (problem) =>
        problem.status === 400 ? { ...problem, type: "api_error" } : problem,
    },
  },
  {
    name: "refusal-without-top-type",
    about: "A refusal has no type beside error",
    hooks: refusalBody((body) => ({ error: body["error"] })),
  },
  {
    name: "refusal-as-stream",
    about: "A refused stream has the content type text/event-stream",
    hooks: {
      reply: (reply, { stream }) =>
        reply.status === 400 && stream
          ? {
            ...reply,
            headers: { ...reply.headers, "content-type": "text/event-stream" },
          }
          : reply,
    },
  },
  ...LIMITS_REPORTED_MUTANTS,
  ...INPUT_TOKEN_MUTANTS,
  ...LIMITS_UPSTREAM_MUTANTS,
  ...REQUEST_FORM_MUTANTS,
  ...STOP_STRING_MUTANTS,
];
