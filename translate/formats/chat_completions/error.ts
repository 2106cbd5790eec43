/**
 * Errors in this format: decodes an error inside a reply, and encodes the gateway's errors.
 */
import {
  ERROR_ROWS,
  type ErrorRow,
  messageOf,
} from "../../families/chat/error.ts";
import type { OverflowNumbers } from "../../errors/context_overflow.ts";
import type { EncodedError } from "../../dialect.ts";
import {
  type ApiError,
  type ErrorKind,
  retryHeaders,
  vendorFields,
} from "../../model/error.ts";
import { readErrorObject } from "../../errors/error_body.ts";
import { errorOfWords, UNKNOWN_STATUS } from "../../errors/error_words.ts";
import type { JsonObject } from "../../bytes/json.ts";

export { decodeError } from "../../families/chat/error.ts";

/** Decodes an error inside a reply whose status was 200. */
export function inBandError(body: unknown): ApiError {
  return errorOfWords(readErrorObject(body));
}

/**
 * HTTP statuses for MiniMax's error numbers (platform.minimax.io/docs/api-reference/errorcode.md,
 * 2026-11-21).
 */
const BASE_RESP_STATUS: ReadonlyMap<unknown, number> = new Map([
  [1001, 504],
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1039, 429],
  [1041, 429],
  [2013, 400],
  [2049, 401],
]);

/** Converts MiniMax's `base_resp` of a failure to the error body that other vendors send. */
export function errorFromBaseResp(baseResp: JsonObject): JsonObject {
  return {
    error: {
      message: baseResp["status_msg"],
      code: BASE_RESP_STATUS.get(baseResp["status_code"]) ?? UNKNOWN_STATUS,
    },
  };
}

const FAULT: ErrorRow = { type: "server_error" };

const ROWS: Readonly<Record<ErrorKind, ErrorRow>> = {
  ...ERROR_ROWS,
  billing: { type: "insufficient_quota", code: "insufficient_quota" },
  internal: FAULT,
  upstream: FAULT,
  unavailable: FAULT,
  timeout: FAULT,
  // 529 exists in the messages format only.
  overloaded: { type: "server_error", status: 503 },
};

/** The last object of a stream that failed. */
export function streamError(error: ApiError, requestId?: string): JsonObject {
  return {
    error: errorObject(error),
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

function errorObject(error: ApiError): JsonObject {
  const { code, param } = error.details;
  const row = ROWS[error.kind];
  return {
    ...vendorFields(error, "openai"),
    // An exhausted quota has the status of a rate limit; clients distinguish the two by this
    // word.
    type: code === "insufficient_quota" ? code : row.type,
    message: messageOf(error, overflow),
    code: code ?? row.code ?? null,
    param: param ?? null,
  };
}

function overflow({ tokens, maximum, output }: OverflowNumbers): string {
  const limit = `This model's maximum context length is ${maximum} tokens.`;
  return output === undefined
    ? `${limit} However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
    : `${limit} However, you requested ${
      tokens + output
    } tokens (${tokens} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`;
}

export function encodeError(error: ApiError, requestId: string): EncodedError {
  return {
    status: ROWS[error.kind].status ?? error.status,
    headers: retryHeaders(error.details),
    body: { type: "error", error: errorObject(error), request_id: requestId },
  };
}
