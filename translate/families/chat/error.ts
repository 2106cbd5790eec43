/**
 * Errors as the chat and the Responses formats have them.
 */
import {
  type OverflowNumbers,
  overflowNumbers,
} from "../../errors/context_overflow.ts";
import type { ApiError, ErrorKind } from "../../model/error.ts";
import { readErrorText } from "../../errors/error_body.ts";
import { replyError } from "../../errors/error_words.ts";

/** Decodes an upstream's error reply of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return replyError(status, headers, readErrorText(body));
}

/** `type`, the status if it is not the kind's, and `code` if the upstream sent no better one. */
export interface ErrorRow {
  readonly status?: number;
  readonly type: string;
  readonly code?: string;
}

const INVALID: ErrorRow = { type: "invalid_request_error" };

/** The kinds that are the same in both formats. */
export const ERROR_ROWS = {
  invalid_request: INVALID,
  authentication: { type: "authentication_error", code: "invalid_api_key" },
  permission: { type: "permission_error" },
  not_found: INVALID,
  method_not_allowed: INVALID,
  request_timeout: INVALID,
  conflict: INVALID,
  too_large: INVALID,
  unsupported_media: INVALID,
  rate_limit: { type: "requests", code: "rate_limit_exceeded" },
} as const satisfies Partial<Record<ErrorKind, ErrorRow>>;

const OVERFLOW_WORDING = /maximum (?:context|prompt) length (?:is|of) \d/i;

/**
 * The message of an error. Coding agents read the limit out of the sentence about a full context
 * window, so `worded` writes it; a message without its numbers stays as it is.
 */
export function messageOf(
  { message, details }: ApiError,
  worded: (numbers: OverflowNumbers) => string,
): string {
  if (
    details.code !== "context_length_exceeded" || OVERFLOW_WORDING.test(message)
  ) return message;
  const numbers = overflowNumbers(message);
  return numbers === undefined ? message : worded(numbers);
}
