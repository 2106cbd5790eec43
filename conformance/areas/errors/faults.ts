/** What the faults of the area `errors` are built from, and those that several checks have. */
import { changeProblems } from "../../faults/change_hooks.ts";
import type { Faults } from "../../suite/check.ts";
import type { Hooks, JsonReply } from "../../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import { MISSING, MISTYPED } from "./scenarios_invalid_requests.ts";
import { withAt } from "../../faults/change_reply.ts";

/** True when the body is wrong in exactly the way of a form. */
function isWrongIn(form: string, body: JsonObject): boolean {
  const change = { ...MISSING, ...MISTYPED }[form]?.change ?? {};
  return Object.entries(change).every(([name, value]) =>
    JSON.stringify(body[name]) === JSON.stringify(value)
  );
}

let wrongRequests = 0;

export const WRONG_REQUEST_FAULTS: Faults = {
  "errors-name-nothing": {
    problem: ({ status, type }) => ({ status, type, message: "Bad input" }),
  },
  "every-wrong-request-500": changeProblems({ status: 400 }, { status: 500 }),
  "bytes-after-json-ignored": {
    request: (request) => {
      const shorter = request.body.slice(0, -1);
      return isObject(parseJson(shorter))
        ? { ...request, body: shorter }
        : request;
    },
  },
  "any-body-will-do": { accept: (problem) => problem && undefined },
  ...Object.fromEntries(
    Object.keys({ ...MISSING, ...MISTYPED }).map((form): [string, Hooks] => [
      `${form}-accepted`,
      {
        accept: (problem, body) => isWrongIn(form, body) ? undefined : problem,
      },
    ]),
  ),
};

/** After twenty wrong requests every request fails. */
export const brokenByWrongRequests: Hooks = {
  problem: (problem) => {
    wrongRequests++;
    return problem;
  },
  admit: (problem) =>
    wrongRequests < 20
      ? problem
      : { status: 500, type: "api_error", message: "Out of order" },
};

/** Changes refusals; only those of one endpoint when it is given. */
export function refusal(
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

export function withValue(
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

export function withType(type: string): Hooks {
  return refusal((reply) => ({
    ...reply,
    headers: { ...reply.headers, "content-type": type },
  }));
}
