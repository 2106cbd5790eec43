/**
 * Zod schemas of the API's replies, for the API description and for tests.
 */
import { z } from "zod";

const tokens = z.int().nonnegative();

/** The fields of an error reply that tests read. */
interface ErrorReply {
  /** Distinguishes an error from the message format's replies. */
  readonly type: "error";
  /** `type` and `code` are values of the endpoint's format; null if there is no value. */
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: string | null;
    readonly param: string | null;
  };
  /** Equal to the header `request-id`. */
  readonly request_id: string;
}

/** The field of a model that tests read. */
interface ModelReply {
  /** The value that clients send as `model`. */
  readonly id: string;
}

interface ModelListReply {
  /** In the catalogue's order. */
  readonly data: readonly ModelReply[];
  /** True if further models follow on the next page. */
  readonly has_more: boolean;
  /** The `before_id` of the previous page; null for an empty page. */
  readonly first_id: string | null;
  /** The `after_id` of the next page; null for an empty page. */
  readonly last_id: string | null;
}

/** An error, in one shape that the clients of both formats read. */
export const errorReply: z.ZodType<ErrorReply> = z.looseObject({
  type: z.literal("error"),
  error: z.looseObject({
    type: z.string().describe(
      "authentication_error, invalid_request_error, …: a value of the endpoint's format",
    ),
    message: z.string(),
    code: z.string().nullable().describe(
      "model_not_found, insufficient_balance, …",
    ),
    param: z.string().nullable().describe("path of the request field at fault"),
  }),
  request_id: z.string(),
});

/** The fields of an error reply in the generate-content format that tests read. */
interface ContentErrorReply {
  /** In the vendor's own form. */
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly status: string;
    readonly details: readonly unknown[];
  };
}

export const contentErrorReply: z.ZodType<ContentErrorReply> = z.looseObject({
  error: z.looseObject({
    code: z.int().describe("the HTTP status"),
    message: z.string(),
    status: z.string().describe("INVALID_ARGUMENT, UNAUTHENTICATED, …"),
    details: z.array(z.unknown()).describe(
      "reason, field at fault, delay before a retry, request id",
    ),
  }),
});

export const messageReply: z.ZodType = z.looseObject({
  id: z.string().regex(/^msg_/),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().describe(
    "end_turn, max_tokens, stop_sequence, tool_use, refusal, pause_turn, …",
  ),
  stop_sequence: z.string().nullable(),
  usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens }),
});

const contentUsage = z.looseObject({
  promptTokenCount: tokens,
  candidatesTokenCount: tokens,
  totalTokenCount: tokens,
});

const contentFields = z.looseObject({
  candidates: z.array(z.looseObject({
    content: z.looseObject({
      role: z.literal("model"),
      parts: z.array(z.looseObject({})).min(1),
    }),
    finishReason: z.string().optional().describe(
      "STOP, MAX_TOKENS, SAFETY, OTHER, …; in a stream, in the last piece",
    ),
    index: z.literal(0),
  })).optional().describe("absent where the prompt was blocked"),
  promptFeedback: z.looseObject({ blockReason: z.string() }).optional(),
  usageMetadata: contentUsage.optional(),
  modelVersion: z.string(),
  responseId: z.string(),
});

/** A whole reply in the generate-content format. */
export const contentReply: z.ZodType = contentFields;

/** A piece of a streamed one. */
export const contentPiece: z.ZodType = contentFields.extend({
  usageMetadata: contentUsage.partial().optional().describe(
    "complete in the last piece",
  ),
});

export const contentCountReply: z.ZodType = z.looseObject({
  totalTokens: tokens,
});

export const contentModelReply: z.ZodType = z.looseObject({
  name: z.string().regex(/^models\//),
  displayName: z.string(),
  inputTokenLimit: tokens,
  supportedGenerationMethods: z.array(z.string()),
});

export const contentModelListReply: z.ZodType = z.looseObject({
  models: z.array(contentModelReply),
  nextPageToken: z.string().optional(),
});

/** A count in the formats whose objects have a name. */
export const objectCountReply: z.ZodType = z.looseObject({
  object: z.enum(["response.input_tokens", "chat.completion.input_tokens"]),
  input_tokens: tokens,
});

export const chatCompletionReply: z.ZodType = z.looseObject({
  id: z.string().regex(/^chatcmpl-/),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({
    index: z.int(),
    message: z.looseObject({
      role: z.literal("assistant"),
      content: z.string().nullable(),
    }),
    finish_reason: z.string().describe(
      "stop, length, tool_calls, content_filter",
    ),
  })),
  usage: z.looseObject({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: tokens,
  }),
});

export const responseReply: z.ZodType = z.looseObject({
  id: z.string().regex(/^resp_/),
  object: z.literal("response"),
  created_at: z.int(),
  model: z.string(),
  status: z.enum(["completed", "incomplete"]),
  incomplete_details: z.looseObject({
    reason: z.string().describe("max_output_tokens or content_filter"),
  }).nullable(),
  output: z.array(z.looseObject({
    type: z.string().describe(
      "message, reasoning, function_call, custom_tool_call",
    ),
    id: z.string(),
  })),
  usage: z.looseObject({
    input_tokens: tokens,
    input_tokens_details: z.looseObject({ cached_tokens: tokens }),
    output_tokens: tokens,
    output_tokens_details: z.looseObject({ reasoning_tokens: tokens }),
    total_tokens: tokens,
  }),
  store: z.boolean().describe(
    "Whether the reply is stored and can be referred to by its id",
  ),
  previous_response_id: z.string().nullable(),
});

/** The reply to the deletion of a stored reply. */
export const deletedResponseReply: z.ZodType = z.strictObject({
  id: z.string(),
  object: z.literal("response"),
  deleted: z.literal(true),
});

/** The query of the input items of a stored reply. */
export const inputItemsQuery: z.ZodType = z.looseObject({
  limit: z.int().min(1).max(100).optional().describe("20 if absent"),
  order: z.enum(["asc", "desc"]).optional().describe(
    "desc, the newest first, if absent",
  ),
  after: z.string().optional().describe("Id of the item before the page"),
});

export const inputItemsReply: z.ZodType = z.strictObject({
  object: z.literal("list"),
  data: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

export const countReply: z.ZodType = z.strictObject({
  input_tokens: tokens,
  context_management: z.null(),
});

/** A model, in one shape for the client libraries of both formats. */
export const modelReply: z.ZodType<ModelReply> = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  max_input_tokens: z.int().describe("tokens of prompt and reply together"),
  max_tokens: z.int().nullable().describe("most tokens of a reply"),
  capabilities: z.looseObject({}).nullable().describe(
    "what works through this gateway, in the shape of the message format's library",
  ),
  lifecycle: z.enum(["active", "deprecated", "retired"]),
  deprecated_at: z.iso.datetime().nullable(),
  retires_at: z.iso.datetime().nullable(),
  line: z.string().nullable(),
});

/** The model list, in one shape for the client libraries of both formats. */
export const modelListReply: z.ZodType<ModelListReply> = z.strictObject({
  object: z.literal("list"),
  data: z.array(modelReply),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const statusReply: z.ZodType = z.strictObject({
  status: z.string(),
  version: z.string(),
});

/** The reply to a readiness probe; all but `status` only with `?verbose`. */
export const readinessReply: z.ZodType = z.strictObject({
  status: z.string(),
  configuration: z.strictObject({
    hash: z.string().nullable(),
    loaded_at: z.iso.datetime(),
  }).optional(),
  store_schema: z.strictObject({ stored: z.int(), program: z.int() })
    .optional(),
  upstreams: z.array(z.strictObject({
    model: z.string(),
    upstream: z.string(),
    state: z.enum(["closed", "half_open", "open"]),
    since: z.iso.datetime().nullable(),
    resting_until: z.iso.datetime().nullable(),
    probe_at: z.iso.datetime().optional(),
    credential: z.strictObject({
      usable: z.boolean(),
      failing_since: z.iso.datetime(),
      reason: z.string(),
    }).optional(),
    refused: z.strictObject({
      since: z.iso.datetime(),
      reason: z.string(),
    }).optional(),
  })).optional(),
});
