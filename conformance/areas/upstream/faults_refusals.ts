/** Mutants for the checks of the area `upstream` about refusals. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Problem } from "../../reference_gateway/part.ts";
import { STATUSES } from "./scenarios_refusals.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
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

function changed(change: (problem: Problem) => Problem): Hooks {
  return { problem: (problem) => change(problem) };
}

let refusals = 0;

/** Part of `UPSTREAM_MUTANTS`. */
export const REFUSAL_MUTANTS: readonly Mutant[] = [
  ...STATUSES.map((status): Mutant => ({
    name: `status-${status}-misread`,
    about: `A status ${status} of the upstream becomes ${MISREAD[status]}`,
    hooks: {
      problem: (problem, { request }) =>
        problem.status === 404 && problem.code === "model_not_found" ||
          (!comesFrom(problem, status, request.body) &&
            !(status === 408 && problem.message.includes("408")))
          ? problem
          : { ...problem, status: MISREAD[status] ?? 500 },
    },
  })),
  {
    name: "quota-is-403",
    about: "An empty account of the operator is reported as the client's",
    hooks: {
      problem: (problem, { request }) =>
        request.body.includes("fx:quota")
          ? { ...problem, status: 403 }
          : problem,
    },
  },
  {
    name: "refused-streams-are-200",
    about: "Refusals of streamed requests have status 200",
    hooks: {
      reply: (reply, { stream }) =>
        stream && reply.status >= 400 ? { ...reply, status: 200 } : reply,
    },
  },
  {
    name: "odd-faults-are-400",
    about: "Failures of the upstream are reported as the client's mistakes",
    hooks: changed((problem) =>
      problem.status >= 500 ? { ...problem, status: 400 } : problem
    ),
  },
  {
    name: "odd-faults-are-pages",
    about: "An HTML page of a proxy is passed on as the message",
    hooks: {
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
  },
  {
    name: "upstream-words-lost",
    about: "The upstream's message is replaced by a general one",
    hooks: changed((problem) => ({
      ...problem,
      message: "The request could not be served",
    })),
  },
  {
    name: "upstream-words-cut",
    about: "The upstream's message loses its last words",
    hooks: changed((problem) => ({
      ...problem,
      message: problem.message.trim().slice(0, -6),
    })),
  },
  {
    name: "words-about-keys-told",
    about: "The upstream's message about the operator's key is passed on",
    hooks: {
      problem: (problem, { via }) =>
        problem.message.endsWith("status 401")
          ? {
            ...problem,
            message: via === "messages" ? "invalid x-api-key" : via ===
                "chat_completions"
              ? "Incorrect API key provided: sk-upstr***-key. You can find your API key at https://platform.openai.com/account/api-keys."
              : "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
          }
          : problem,
    },
  },
  {
    name: "retry-after-lost",
    about: "retry-after is not passed on",
    hooks: changed(({ status, type, message }) => ({ status, type, message })),
  },
  {
    name: "retry-after-one",
    about: "retry-after is always a second",
    hooks: changed((problem) => ({ ...problem, retryAfter: "1" })),
  },
  {
    name: "retry-after-in-ms",
    about: "retry-after is in milliseconds",
    hooks: changed((problem) =>
      problem.retryAfter === undefined
        ? problem
        : { ...problem, retryAfter: `${problem.retryAfter}000` }
    ),
  },
  {
    name: "overflow-has-no-code",
    about: "A prompt that is too long is refused like any other wrong request",
    hooks: changed(({ status, type, message }) => ({ status, type, message })),
  },
  {
    name: "called-twice",
    about: "Every request is sent upstream twice",
    hooks: { attempts: () => 2 },
  },
  {
    name: "called-six-times",
    about: "Every request is sent upstream six times",
    hooks: { attempts: () => 6 },
  },
  {
    name: "broken-by-refusals",
    about: "After twenty refusals of the upstream every request fails",
    hooks: {
      problem: (problem) => {
        refusals++;
        return problem;
      },
      admit: (problem, { request }) =>
        refusals >= 20 && request.body.includes("fx:text#")
          ? { status: 503, type: "api_error", message: "Out of order" }
          : problem,
    },
  },
  {
    name: "redirects-followed",
    about: "Redirects of the upstream are followed",
    hooks: {
      upstream: (call, { request }) => {
        const [, to] = /redirect\?to=([^#]+)#/.exec(request.body) ?? [];
        return to === undefined
          ? call
          : { ...call, url: decodeURIComponent(to) };
      },
    },
  },
];
