/** Mutants for the checks of the area `upstream` about refusals. */
import type { Faults } from "../../suite/check.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Problem } from "../../reference_gateway/part.ts";
import { STATUSES } from "./scenarios_refusals.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";

/** The wrong status for each status of the upstream. */
const MISREAD: Readonly<Record<number, number>> = {
  400: 500,
  401: 401,
  402: 402,
  403: 403,
  404: 400,
  408: 400,
  413: 400,
  422: 502,
  429: 503,
  500: 400,
  502: 404,
  503: 500,
  504: 400,
  529: 500,
};

/** True for a problem that an upstream reply of that status caused. */
function comesFrom(
  problem: Problem,
  status: number,
  body: string,
): boolean {
  if (problem.message.endsWith(`status ${status}`)) return true;
  const asked = body.includes(`code=${status}`) ||
    (status === 422 && body.includes("error-detail")) ||
    (status === 429 && body.includes("fx:quota")) ||
    (status === 400 && body.includes("context-overflow"));
  return asked && problem.status === (status === 422 ? 400 : status);
}

export function changed(change: (problem: Problem) => Problem): Hooks {
  return { problem: (problem) => change(problem) };
}

let refusals = 0;

/** The faults that several checks are proved with. */
export const REPEATED_FAULTS_REFUSALS: Faults = {
  ...Object.fromEntries(STATUSES.map((status): [string, Hooks] => [
    `status-${status}-misread`,
    {
      problem: (problem, { request }) =>
        problem.status === 404 && problem.code === "model_not_found" ||
          (!comesFrom(problem, status, request.body) &&
            !(status === 408 && problem.message.includes("408")))
          ? problem
          : { ...problem, status: MISREAD[status] ?? 500 },
    },
  ])),
  "refused-streams-are-200": {
    reply: (reply, { stream }) =>
      stream && reply.status >= 400 ? { ...reply, status: 200 } : reply,
  },
  "odd-faults-are-400": changed((problem) =>
    problem.status >= 500 ? { ...problem, status: 400 } : problem
  ),
  // An HTML page of a proxy is passed on as the message.
  "odd-faults-are-pages": {
    reply: (reply) =>
      reply.status >= 500
        ? {
          ...reply,
          body: withAt(
            reply.body,
            "error.message",
            "<html><h1>502 Bad Gateway</h1></html>",
          ),
        }
        : reply,
  },
  "upstream-words-lost": changed((problem) => ({
    ...problem,
    message: "The request could not be served",
  })),
  "upstream-words-cut": changed((problem) => ({
    ...problem,
    message: problem.message.trim().slice(0, -6),
  })),
  "retry-after-lost": changed(({ status, type, message }) => ({
    status,
    type,
    message,
  })),
  "retry-after-one": changed((problem) => ({ ...problem, retryAfter: "1" })),
  "retry-after-in-ms": changed((problem) =>
    problem.retryAfter === undefined
      ? problem
      : { ...problem, retryAfter: `${problem.retryAfter}000` }
  ),
};

/** After twenty refusals of the upstream every request fails. */
export const brokenByRefusals: Hooks = {
  problem: (problem) => {
    refusals++;
    return problem;
  },
  admit: (problem, { request }) =>
    refusals >= 20 && request.body.includes("fx:text#")
      ? { status: 503, type: "api_error", message: "Out of order" }
      : problem,
};
