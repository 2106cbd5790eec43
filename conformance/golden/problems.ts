/** How the golden gateway names problems, and what it makes of the upstream's. */
import { textAt } from "../evidence/json_path.ts";
import { parseJson } from "../replay/json.ts";
import type { JsonReply } from "./hooks.ts";
import { type Problem, Refused } from "./part.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  413: "request_too_large",
  415: "invalid_request_error",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** A problem of a status. */
export function problemOf(
  status: number,
  message: string,
  more: Partial<Problem> = {},
): Problem {
  return { status, type: TYPES[status] ?? "api_error", message, ...more };
}

/** Statuses of the upstream that mean the same to the caller; the rest is the operator's affair. */
const PASSED_ON = new Set([400, 404, 413, 422, 429, 500, 503, 504, 529]);

/** How the vendors say that a prompt is too long. */
const OVERFLOW =
  /prompt is too long|maximum context length|exceeds the maximum number of tokens/;

/** What an upstream's refusal becomes. */
export function fromUpstream(
  status: number,
  body: string,
  retryAfter: string | null,
): Refused {
  // One vendor refuses a key with 400 and this reason.
  if (!PASSED_ON.has(status) || body.includes("API_KEY_INVALID")) {
    return new Refused(
      problemOf(502, `The upstream could not be used: status ${status}`),
    );
  }
  const parsed = parseJson(body);
  const found = Array.isArray(parsed) ? parsed[0] : parsed;
  const message = textAt(found, "error.message") || textAt(found, "error") ||
    textAt(found, "detail") || `The upstream answered ${status}`;
  return new Refused(problemOf(status === 422 ? 400 : status, message, {
    ...(retryAfter === null ? {} : { retryAfter }),
    ...(OVERFLOW.test(message) ? { code: "context_length_exceeded" } : {}),
  }));
}

/** The body that both formats' libraries understand. */
export function problemBody(problem: Problem): JsonReply["body"] {
  return {
    type: "error",
    error: {
      type: problem.type,
      message: problem.message,
      param: problem.param ?? null,
      code: problem.code ?? CODES[problem.status] ?? null,
    },
  };
}

const CODES: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  429: "rate_limit_exceeded",
};
