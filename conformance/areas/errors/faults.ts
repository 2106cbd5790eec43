/** Mutants for the checks of the area `errors`. */
import {
  isObject,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import { MISSING, MISTYPED } from "./scenarios_invalid_requests.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { REFUSAL_BODY_MUTANTS } from "./faults_refusal_body.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";

/** True when the body is wrong in exactly the way of a form. */
function isWrongIn(form: string, body: JsonObject): boolean {
  const change = { ...MISSING, ...MISTYPED }[form]?.change ?? {};
  return Object.entries(change).every(([name, value]) =>
    JSON.stringify(body[name]) === JSON.stringify(value)
  );
}

let wrongRequests = 0;

/** All mutants of the area `errors`. */
export const ERRORS_MUTANTS: readonly Mutant[] = [
  {
    name: "unknown-model-served",
    about: "An unknown model is served by another one",
    hooks: {
      modelRequest: (modelRequest) =>
        modelRequest.model.startsWith("vendor")
          ? modelRequest
          : { ...modelRequest, model: "vendora-haiku-4-5" },
    },
  },
  {
    name: "unknown-model-500",
    about: "An unknown model causes a 500",
    hooks: {
      problem: (problem) =>
        problem.code === "model_not_found"
          ? { ...problem, status: 500 }
          : problem,
    },
  },
  {
    name: "unknown-model-400",
    about: "An unknown model is refused like any other wrong request",
    hooks: {
      problem: (problem) =>
        problem.code === "model_not_found"
          ? { ...problem, status: 400 }
          : problem,
    },
  },
  {
    name: "unknown-model-has-no-name",
    about: "The error of an unknown model has no code on either endpoint",
    hooks: {
      problem: ({ code, ...problem }) =>
        code === "model_not_found"
          ? { ...problem, type: "invalid_request_error" }
          : { ...problem, ...(code === undefined ? {} : { code }) },
    },
  },
  {
    name: "wrong-request-500",
    about: "A wrong request causes a 500",
    hooks: {
      problem: (problem) =>
        problem.status === 400 ? { ...problem, status: 500 } : problem,
    },
  },
  {
    name: "every-wrong-request-500",
    about: "Each wrong request causes a 500",
    hooks: {
      problem: (problem) =>
        problem.status === 400 ? { ...problem, status: 500 } : problem,
    },
  },
  {
    name: "errors-name-nothing",
    about: "Refusals do not name the wrong member",
    hooks: {
      problem: ({ status, type }) => ({ status, type, message: "Bad input" }),
    },
  },
  {
    name: "any-body-will-do",
    about: "A body that is not a JSON object is read as an empty request",
    hooks: { accept: (problem) => problem && undefined },
  },
  {
    name: "bytes-after-json-ignored",
    about: "Bytes after the JSON of a body are ignored",
    hooks: {
      request: (request) => {
        const shorter = request.body.slice(0, -1);
        return isObject(parseJson(shorter))
          ? { ...request, body: shorter }
          : request;
      },
    },
  },
  {
    name: "empty-model-served",
    about: "An empty model id selects the default model",
    hooks: {
      accept: (problem, body) => body["model"] === "" ? undefined : problem,
    },
  },
  ...Object.keys({ ...MISSING, ...MISTYPED }).map((form): Mutant => ({
    name: `${form}-accepted`,
    about: `The mistake "${form}" is ignored`,
    hooks: {
      accept: (problem, body) => isWrongIn(form, body) ? undefined : problem,
    },
  })),
  {
    name: "streamed-refusal-is-200",
    about: "Refusals of streamed requests have status 200",
    hooks: {
      reply: (reply, { stream }) =>
        stream && reply.status >= 400 ? { ...reply, status: 200 } : reply,
    },
  },
  {
    name: "streamed-refusal-is-another",
    about: "Refusals of streamed requests have a shorter body",
    hooks: {
      reply: (reply, { stream }) =>
        stream && reply.status >= 400
          ? {
            ...reply,
            body: withAt(reply.body, "error.message", "It did not work"),
          }
          : reply,
    },
  },
  {
    name: "refused-after-the-call",
    about: "Wrong requests are sent upstream before they are refused",
    hooks: {
      accept: (problem, _, { state }) => {
        if (problem !== undefined) state.set("refuse", true);
        return undefined;
      },
      modelRequest: (modelRequest, { request }) => ({
        ...modelRequest,
        turns: [{
          role: "user",
          parts: [{
            type: "text",
            text: /\[\[fx:[^\]]*\]\]/.exec(request.body)?.[0] ?? "",
          }],
        }],
      }),
      reply: (reply, { state }) =>
        state.has("refuse")
          ? {
            ...reply,
            status: 400,
            body: {
              type: "error",
              error: { type: "invalid_request_error", message: "Wrong" },
            },
          }
          : reply,
    },
  },
  {
    name: "broken-by-wrong-requests",
    about: "After twenty wrong requests every request fails",
    hooks: {
      problem: (problem) => {
        wrongRequests++;
        return problem;
      },
      admit: (problem) =>
        wrongRequests < 20
          ? problem
          : { status: 500, type: "api_error", message: "Out of order" },
    },
  },
  ...REFUSAL_BODY_MUTANTS,
];
