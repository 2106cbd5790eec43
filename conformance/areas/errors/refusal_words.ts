/** The words of refusals: the types of the message format, and what a message to people must be. */
import type { Json } from "@model-gateway/replay/json";

/** The error types that the message format's own libraries know. */
export const MESSAGE_TYPES: readonly string[] = [
  "invalid_request_error",
  "authentication_error",
  "billing_error",
  "permission_error",
  "not_found_error",
  "conflict_error",
  "request_too_large",
  "rate_limit_error",
  "timeout_error",
  "overloaded_error",
  "api_error",
];

/** The error types that fit a status in the message format. */
export const TYPES_OF: Readonly<Record<number, readonly string[]>> = {
  400: ["invalid_request_error", "billing_error"],
  401: ["authentication_error"],
  402: ["billing_error"],
  403: ["permission_error", "billing_error"],
  404: ["not_found_error"],
  405: ["invalid_request_error", "not_found_error"],
  413: ["request_too_large", "invalid_request_error"],
  415: ["invalid_request_error"],
  422: ["invalid_request_error"],
  429: ["rate_limit_error", "billing_error"],
  500: ["api_error"],
  502: ["api_error", "overloaded_error"],
  503: ["api_error", "overloaded_error"],
  504: ["timeout_error", "api_error"],
  529: ["overloaded_error"],
};

/** A message for people and programs: no HTML page, no nested JSON, no stack trace. */
export function plainMessage(value: Json | undefined): boolean {
  return typeof value === "string" && value.trim() !== "" &&
    !/<\/?(html|body|head|center|h1|title|!doctype)\b/i.test(value) &&
    !/^\s*[[{]\s*["{[]/.test(value) && !/\n\s+at \S+/.test(value) &&
    !/^(null|undefined|none|\[object Object\])$/i.test(value.trim());
}
