/**
 * Error types and messages of each vendor, by status. `{{model}}` is replaced by the requested
 * model id.
 */

/** One status, as each vendor reports it. */
interface VendorError {
  /** In the messages dialect. */
  readonly messages: { readonly type: string; readonly message: string };
  /** In the chat dialect. */
  readonly chat_completions: {
    readonly type: string;
    readonly code: string | null;
    readonly message: string;
  };
  /** In the generate content dialect. */
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

/** Errors by status. A vendor that never sends a status has the entry of its nearest error. */
export const VENDOR_ERRORS: Readonly<Record<number, VendorError>> = {
  400: {
    messages: {
      type: "invalid_request_error",
      message: "messages.0.content: Input should be a valid list",
    },
    chat_completions: {
      type: "invalid_request_error",
      code: "invalid_value",
      message: "Invalid value for 'content': expected a string, got null.",
    },
    generate_content: {
      status: "INVALID_ARGUMENT",
      message: "* GenerateContentRequest.contents: contents is not specified\n",
    },
  },
  401: {
    messages: { type: "authentication_error", message: "invalid x-api-key" },
    chat_completions: {
      type: "invalid_request_error",
      code: "invalid_api_key",
      message:
        "Incorrect API key provided: sk-upstr***-key. You can find your API key at https://platform.openai.com/account/api-keys.",
    },
    generate_content: {
      status: "UNAUTHENTICATED",
      message:
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    },
  },
  402: {
    messages: {
      type: "billing_error",
      message: "Your credit balance is too low to access the API.",
    },
    chat_completions: {
      type: "insufficient_quota",
      code: "insufficient_quota",
      message: "Insufficient Balance",
    },
    generate_content: {
      status: "FAILED_PRECONDITION",
      message: "Billing account for project is not active.",
    },
  },
  403: {
    messages: {
      type: "permission_error",
      message:
        "Your API key does not have permission to use the specified resource.",
    },
    chat_completions: {
      type: "invalid_request_error",
      code: "model_not_found",
      message: "Project `proj_replay` does not have access to model.",
    },
    generate_content: {
      status: "PERMISSION_DENIED",
      message: "Method doesn't allow unregistered callers.",
    },
  },
  404: {
    messages: { type: "not_found_error", message: "model: {{model}}" },
    chat_completions: {
      type: "invalid_request_error",
      code: "model_not_found",
      message:
        "The model `{{model}}` does not exist or you do not have access to it.",
    },
    generate_content: {
      status: "NOT_FOUND",
      message:
        "models/{{model}} is not found for API version v1beta, or is not supported for generateContent.",
    },
  },
  408: {
    messages: { type: "timeout_error", message: "Request timed out" },
    chat_completions: {
      type: "server_error",
      code: null,
      message: "Request timed out.",
    },
    generate_content: {
      status: "DEADLINE_EXCEEDED",
      message: "Deadline expired before operation could complete.",
    },
  },
  413: {
    messages: {
      type: "request_too_large",
      message: "Request exceeds the maximum size",
    },
    chat_completions: {
      type: "invalid_request_error",
      code: null,
      message: "Request too large: the body exceeds the maximum allowed size.",
    },
    generate_content: {
      status: "INVALID_ARGUMENT",
      message: "Request payload size exceeds the limit: 20971520 bytes.",
    },
  },
  422: {
    messages: {
      type: "invalid_request_error",
      message: "The request was well-formed but could not be processed",
    },
    chat_completions: {
      type: "invalid_request_error",
      code: "unprocessable_entity",
      message: "The request was well-formed but could not be processed.",
    },
    generate_content: {
      status: "INVALID_ARGUMENT",
      message: "The request could not be processed.",
    },
  },
  429: {
    messages: {
      type: "rate_limit_error",
      message:
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    },
    chat_completions: {
      type: "requests",
      code: "rate_limit_exceeded",
      message:
        "Rate limit reached for {{model}} on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 7s.",
    },
    generate_content: {
      status: "RESOURCE_EXHAUSTED",
      message:
        "You exceeded your current quota, please check your plan and billing details.\nPlease retry in 7s.",
    },
  },
  500: {
    messages: { type: "api_error", message: "Internal server error" },
    chat_completions: {
      type: "server_error",
      code: null,
      message:
        "The server had an error while processing your request. Sorry about that!",
    },
    generate_content: {
      status: "INTERNAL",
      message:
        "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
    },
  },
  502: {
    messages: { type: "api_error", message: "Bad gateway" },
    chat_completions: {
      type: "server_error",
      code: null,
      message: "Bad gateway.",
    },
    generate_content: {
      status: "UNKNOWN",
      message: "The server encountered a temporary error.",
    },
  },
  503: {
    messages: { type: "overloaded_error", message: "Service unavailable" },
    chat_completions: {
      type: "server_error",
      code: null,
      message: "The engine is currently overloaded, please try again later",
    },
    generate_content: {
      status: "UNAVAILABLE",
      message: "The model is overloaded. Please try again later.",
    },
  },
  504: {
    messages: { type: "timeout_error", message: "Request timed out" },
    chat_completions: {
      type: "server_error",
      code: null,
      message: "Gateway timeout.",
    },
    generate_content: {
      status: "DEADLINE_EXCEEDED",
      message: "Deadline expired before operation could complete.",
    },
  },
  529: {
    messages: { type: "overloaded_error", message: "Overloaded" },
    chat_completions: {
      type: "server_error",
      code: null,
      message: "The engine is currently overloaded, please try again later",
    },
    generate_content: {
      status: "UNAVAILABLE",
      message: "The model is overloaded. Please try again later.",
    },
  },
};
