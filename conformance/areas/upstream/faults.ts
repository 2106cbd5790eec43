/** What the faults of the area `upstream` are built from, and those that several checks have. */
import { changeParts, changeReplies } from "../../faults/change_hooks.ts";
import { changeRequest, inParts } from "../../faults/change_request.ts";
import type { Context, Hooks, OutCall } from "../../reference_gateway/hooks.ts";
import type { Faults } from "../../suite/check.ts";
import type {
  ModelRequest,
  Problem,
  Turn,
} from "../../reference_gateway/part.ts";
import { STATUSES } from "./scenarios_refusals.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { JsonObject } from "@model-gateway/replay/json";

/** A stream that broke off ends as if it were complete. */
export const breakBecomesEnd: Hooks = changeParts("failed", () => []);

/** Changes text, except for the marker. */
export function text(change: (text: string) => string): Hooks {
  return inParts("text", (part) => {
    const [marker = ""] = /\[\[fx:.*$/s.exec(part.text) ?? [];
    const words = part.text.slice(0, part.text.length - marker.length);
    return { ...part, text: change(words) + marker };
  });
}

export function turnOf(role: Turn["role"], words: string): Turn {
  return { role, parts: [{ type: "text", text: words }] };
}

export const CONVERSATION_FAULTS: Faults = {
  "last-text-only": changeRequest((request) => ({
    turns: request.turns.slice(-1).map((turn) => ({
      ...turn,
      parts: turn.parts.slice(-1),
    })),
  })),
  "texts-reversed": changeRequest((request) => ({
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: [...turn.parts].reverse(),
    })).reverse(),
  })),
};

export const systemLostOnChat: Hooks = changeRequest((_, { endpoint }) =>
  endpoint === "chat" ? { system: "" } : {}
);

export const systemLost: Hooks = changeRequest({ system: "" });

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

export const REFUSAL_FAULTS: Faults = {
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
  "refused-streams-are-200": changeReplies({ stream: true, least: 400 }, {
    status: 200,
  }),
  "odd-faults-are-400": changed((problem) =>
    problem.status >= 500 ? { ...problem, status: 400 } : problem
  ),
  "odd-faults-are-pages": changeReplies(
    { least: 500 },
    (reply) => ({
      body: withAt(
        reply.body,
        "error.message",
        "<html><h1>502 Bad Gateway</h1></html>",
      ),
    }),
  ),
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

export function call(change: (call: OutCall, x: Context) => OutCall): Hooks {
  return { upstream: change };
}

export function withBody(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return call((out, x) => ({ ...out, body: change(out.body, x) }));
}

export function otherModel(request: ModelRequest): ModelRequest {
  return request.model === "vendora-opus-4-8"
    ? { ...request, model: "vendora-haiku-4-5" }
    : request;
}

export const otherModelOnChat: Hooks = changeRequest((request, { endpoint }) =>
  endpoint === "chat" ? otherModel(request) : {}
);

export const limitLostOnChat: Hooks = changeRequest((_, { endpoint }) =>
  endpoint === "chat" ? { maxTokens: undefined } : {}
);
