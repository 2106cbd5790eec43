/**
 * Error types and messages of each vendor, by status. `{{model}}` is replaced by the requested
 * model id.
 */

/** One status, as each vendor reports it. */
interface VendorError {
  readonly messages: { readonly type: string; readonly message: string };
  readonly chat_completions: {
    readonly type: string;
    readonly code: string | null;
    readonly message: string;
  };
  readonly generate_content: {
    readonly status: string;
    readonly message: string;
  };
}

/**
 * What a typed error has beside its message, by the name of the field: `details` in the messages
 * dialect, `misalignment` in the two others of one vendor.
 */
export const TYPED_ERRORS = {
  details: {
    error_code: "image_dimensions_too_large",
    max_side_length_pixels: 8000,
  },
  misalignment: {
    detailed_explanation: "It would send data to an unknown place.",
    error_type: "potentially_unintended_data_transfer",
    review_target: null,
  },
} as const;

/** The error by type, by type and code, and by status, each with its message. */
function errorOf(
  [type, message]: readonly [string, string],
  chat: readonly [type: string, code: string | null, message: string],
  content: readonly [status: string, message: string],
): VendorError {
  return {
    messages: { type, message },
    chat_completions: { type: chat[0], code: chat[1], message: chat[2] },
    generate_content: { status: content[0], message: content[1] },
  };
}

/** Errors by status. A vendor that never sends a status has the entry of its nearest error. */
export const VENDOR_ERRORS: Readonly<Record<number, VendorError>> = {
  400: errorOf([
    "invalid_request_error",
    "messages.0.content: Input should be a valid list",
  ], [
    "invalid_request_error",
    "invalid_value",
    "Invalid value for 'content': expected a string, got null.",
  ], [
    "INVALID_ARGUMENT",
    "* GenerateContentRequest.contents: contents is not specified\n",
  ]),
  401: errorOf(["authentication_error", "invalid x-api-key"], [
    "invalid_request_error",
    "invalid_api_key",
    "Incorrect API key provided: sk-upstr***-key. You can find your API key at https://platform.openai.com/account/api-keys.",
  ], [
    "UNAUTHENTICATED",
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
  ]),
  402: errorOf(
    ["billing_error", "Your credit balance is too low to access the API."],
    ["insufficient_quota", "insufficient_quota", "Insufficient Balance"],
    ["FAILED_PRECONDITION", "Billing account for project is not active."],
  ),
  403: errorOf([
    "permission_error",
    "Your API key does not have permission to use the specified resource.",
  ], [
    "invalid_request_error",
    "model_not_found",
    "Project `proj_replay` does not have access to model.",
  ], ["PERMISSION_DENIED", "Method doesn't allow unregistered callers."]),
  404: errorOf(["not_found_error", "model: {{model}}"], [
    "invalid_request_error",
    "model_not_found",
    "The model `{{model}}` does not exist or you do not have access to it.",
  ], [
    "NOT_FOUND",
    "models/{{model}} is not found for API version v1beta, or is not supported for generateContent.",
  ]),
  408: errorOf(["timeout_error", "Request timed out"], [
    "server_error",
    null,
    "Request timed out.",
  ], [
    "DEADLINE_EXCEEDED",
    "Deadline expired before operation could complete.",
  ]),
  413: errorOf(["request_too_large", "Request exceeds the maximum size"], [
    "invalid_request_error",
    null,
    "Request too large: the body exceeds the maximum allowed size.",
  ], [
    "INVALID_ARGUMENT",
    "Request payload size exceeds the limit: 20971520 bytes.",
  ]),
  422: errorOf([
    "invalid_request_error",
    "The request was well-formed but could not be processed",
  ], [
    "invalid_request_error",
    "unprocessable_entity",
    "The request was well-formed but could not be processed.",
  ], ["INVALID_ARGUMENT", "The request could not be processed."]),
  429: errorOf([
    "rate_limit_error",
    "This request would exceed your organization's rate limit of 50 requests per minute.",
  ], [
    "requests",
    "rate_limit_exceeded",
    "Rate limit reached for {{model}} on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 7s.",
  ], [
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.\nPlease retry in 7s.",
  ]),
  500: errorOf(["api_error", "Internal server error"], [
    "server_error",
    null,
    "The server had an error while processing your request. Sorry about that!",
  ], [
    "INTERNAL",
    "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
  ]),
  502: errorOf(["api_error", "Bad gateway"], [
    "server_error",
    null,
    "Bad gateway.",
  ], ["UNKNOWN", "The server encountered a temporary error."]),
  503: errorOf(["overloaded_error", "Service unavailable"], [
    "server_error",
    null,
    "The engine is currently overloaded, please try again later",
  ], ["UNAVAILABLE", "The model is overloaded. Please try again later."]),
  504: errorOf(["timeout_error", "Request timed out"], [
    "server_error",
    null,
    "Gateway timeout.",
  ], [
    "DEADLINE_EXCEEDED",
    "Deadline expired before operation could complete.",
  ]),
  529: errorOf(["overloaded_error", "Overloaded"], [
    "server_error",
    null,
    "The engine is currently overloaded, please try again later",
  ], ["UNAVAILABLE", "The model is overloaded. Please try again later."]),
};
