/**
 * Errors in this format: `{"error": {code, message, status, details}}`, alone, in an array, or
 * inside a stream. `../../errors/error_body.ts` decodes bodies of any other shape.
 */
import { overflowNumbers } from "../../errors/context_overflow.ts";
import type { EncodedError } from "../../dialect.ts";
import {
  ApiError,
  ERROR_STATUS,
  type ErrorKind,
  retryHeaders,
  vendorFields,
} from "../../model/error.ts";
import {
  type ErrorBody,
  readErrorObject,
  readErrorText,
  upstreamError,
  wholeMs,
} from "../../errors/error_body.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import { RPC_STATUSES } from "./wire.ts";

/** Decodes an upstream's error of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return errorOf(status, headers, readErrorText(body));
}

/**
 * Decodes an error that came inside a 200: the body's number or status word replaces the HTTP
 * status.
 */
export function inBandError(body: JsonObject): ApiError {
  const read = readErrorObject(body);
  const code = read.detail["code"];
  const status = RPC_STATUSES.get(read.type ?? "") ??
    (typeof code === "number" && code >= 400 && code < 600 ? code : 502);
  return errorOf(status, new Headers(), read);
}

function errorOf(status: number, headers: Headers, body: ErrorBody): ApiError {
  const error = upstreamError(status, headers, body, "generate_content");
  const retryAfterSeconds = error.details.retryAfterSeconds ??
    retryDelay(arrayOr(body.detail["details"]).filter(isObject));
  return retryAfterSeconds === undefined || error.kind === "upstream"
    ? error
    : new ApiError(error.kind, error.message, {
      ...error.details,
      retryAfterSeconds,
    });
}

/**
 * The delay of `google.rpc.RetryInfo`, such as `"48.9s"`, in seconds: this vendor sends no
 * retry-after header.
 */
function retryDelay(details: readonly JsonObject[]): number | undefined {
  for (const detail of details) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(textIn(detail["retryDelay"]) ?? "")
      ?.[1];
    if (delay !== undefined) return wholeMs(Number(delay));
  }
  return undefined;
}

/** The word of each kind (google/rpc/code.proto), and its HTTP status where that is another. */
const STATUS_WORDS: Readonly<
  Record<ErrorKind, readonly [word: string, status?: number]>
> = {
  invalid_request: ["INVALID_ARGUMENT"],
  authentication: ["UNAUTHENTICATED"],
  billing: ["FAILED_PRECONDITION"],
  permission: ["PERMISSION_DENIED"],
  not_found: ["NOT_FOUND"],
  method_not_allowed: ["UNIMPLEMENTED"],
  request_timeout: ["DEADLINE_EXCEEDED"],
  conflict: ["ABORTED"],
  too_large: ["INVALID_ARGUMENT"],
  unsupported_media: ["INVALID_ARGUMENT"],
  rate_limit: ["RESOURCE_EXHAUSTED"],
  internal: ["INTERNAL"],
  upstream: ["INTERNAL"],
  unavailable: ["UNAVAILABLE"],
  timeout: ["DEADLINE_EXCEEDED"],
  // 529 exists in the messages format only.
  overloaded: ["UNAVAILABLE", 503],
};

/** The codes of kinds whose errors have none of their own. */
const REASONS: Readonly<Partial<Record<ErrorKind, string>>> = {
  authentication: "API_KEY_INVALID",
  rate_limit: "RATE_LIMIT_EXCEEDED",
};

/** The domain of the reasons, which are the gateway's. */
const DOMAIN = "model-gateway";
const TYPES = "type.googleapis.com/google.rpc.";

export function encodeError(error: ApiError, requestId: string): EncodedError {
  return {
    status: statusOf(error),
    headers: retryHeaders(error.details),
    body: errorBody(error, requestId),
  };
}

function statusOf({ kind }: ApiError): number {
  return STATUS_WORDS[kind][1] ?? ERROR_STATUS[kind];
}

/** An error's body, and the last object of a stream that failed. */
export function errorBody(error: ApiError, requestId?: string): JsonObject {
  const { kind, message, details: { code, param, retryAfterSeconds } } = error;
  const reason = code?.toUpperCase() ?? REASONS[kind];
  const fields = vendorFields(error, "generate_content");
  const status = statusOf(error);
  const vendorStatus = textIn(fields["status"]) ?? "";
  const vendorDetails = arrayOr(fields["details"]).filter((detail) =>
    !isOfType(detail, "RequestInfo")
  );
  const details: readonly JsonObject[] = [
    ...(reason === undefined
      ? []
      : [{ "@type": `${TYPES}ErrorInfo`, reason, domain: DOMAIN }]),
    ...(param === undefined ? [] : [{
      "@type": `${TYPES}BadRequest`,
      fieldViolations: [{ field: param, description: message }],
    }]),
    ...(retryAfterSeconds === undefined ? [] : [{
      "@type": `${TYPES}RetryInfo`,
      retryDelay: `${retryAfterSeconds}s`,
    }]),
    ...(requestId === undefined
      ? []
      : [{ "@type": `${TYPES}RequestInfo`, requestId }]),
  ];
  return {
    error: {
      ...fields,
      code: status,
      message: code === "context_length_exceeded"
        ? overflowMessage(message)
        : message,
      status: RPC_STATUSES.get(vendorStatus) === status
        ? vendorStatus
        : STATUS_WORDS[kind][0],
      details: [
        ...vendorDetails,
        ...details.filter(({ "@type": type }) =>
          !vendorDetails.some((detail) => objectOr(detail)["@type"] === type)
        ),
      ],
    },
  };
}

function isOfType(detail: unknown, type: string): boolean {
  return objectOr(detail)["@type"] === `${TYPES}${type}`;
}

/** The vendor's own sentence. A message without both numbers is left unchanged. */
function overflowMessage(message: string): string {
  const numbers = overflowNumbers(message);
  return numbers === undefined || /^The input token count/.test(message)
    ? message
    : `The input token count (${numbers.tokens}) exceeds the maximum number of tokens allowed (${numbers.maximum}).`;
}
