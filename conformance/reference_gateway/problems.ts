/** The reference gateway's problems, and how it translates those of the upstream. */
import { at, textAt } from "../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
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

/** A problem in the words of the Responses format. */
export function responsesProblem(problem: Problem): Problem {
  return problem.status === 529 || problem.status === 503
    ? { ...problem, status: 503, code: "server_is_overloaded" }
    : problem;
}

/** The status word of the generate-content format for each HTTP status. */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  413: "INVALID_ARGUMENT",
  415: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const TYPES_OF_DETAILS = "type.googleapis.com/google.rpc.";

/** A problem in the words of the generate-content format. */
export function contentProblem(problem: Problem): JsonObject {
  const { message, param, retryAfter } = problem;
  // This format has no status for an overload of its own.
  const code = problem.status === 529 ? 503 : problem.status;
  return {
    error: {
      code,
      message,
      status: STATUS_WORDS[code] ?? "INTERNAL",
      details: [
        ...(code === 401
          ? [{
            "@type": `${TYPES_OF_DETAILS}ErrorInfo`,
            reason: "API_KEY_INVALID",
          }]
          : []),
        ...(param === undefined ? [] : [{
          "@type": `${TYPES_OF_DETAILS}BadRequest`,
          fieldViolations: [{ field: param, description: message }],
        }]),
        ...(retryAfter === undefined ? [] : [{
          "@type": `${TYPES_OF_DETAILS}RetryInfo`,
          retryDelay: `${retryAfter}s`,
        }]),
      ],
    },
  };
}

export function problemOf(
  status: number,
  message: string,
  more: Partial<Problem> = {},
): Problem {
  return { status, type: TYPES[status] ?? "api_error", message, ...more };
}

/** Upstream statuses that have the same meaning for the client; the others concern the operator. */
const PASSED_ON = new Set([400, 404, 413, 422, 429, 500, 503, 504, 529]);

/** The vendors' messages for a prompt that is too long. */
const OVERFLOW =
  /prompt is too long|exceeds the context window|maximum context length|exceeds the maximum number of tokens/;

/** The problem to report for an upstream's refusal. */
export function fromUpstream(
  status: number,
  body: string,
  retryAfter: string | null,
  sameFormat: boolean,
): Refused {
  // One vendor refuses a key with status 400 and this reason.
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
    ...(sameFormat ? { own: ownFields(found) } : {}),
    ...(OVERFLOW.test(message) ? { code: "context_length_exceeded" } : {}),
  }));
}

function ownFields(body: Json | undefined): JsonObject {
  return Object.fromEntries(
    ["details", "misalignment"].flatMap((name) => {
      const value = at(body, `error.${name}`);
      return isObject(value) ? [[name, value]] : [];
    }),
  );
}

/** The error body of a problem, which both formats' libraries understand. */
export function problemBody(problem: Problem): JsonReply["body"] {
  return {
    type: "error",
    error: {
      type: problem.type,
      message: problem.message,
      param: problem.param ?? null,
      code: problem.code ?? CODES[problem.status] ?? null,
      ...problem.own,
    },
  };
}

const CODES: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  429: "rate_limit_exceeded",
};
