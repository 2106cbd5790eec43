/**
 * The answers of the API as zod schemas: for its description, and for tests to hold real answers against.
 *
 * @module
 */
import { z } from "zod";

const tokens = z.int().nonnegative();

/** What an error says, as far as tests look at it. */
export interface ErrorReply {
  /** Tells it from the message format's replies. */
  readonly type: "error";
  /** `type` and `code` are in the words of the endpoint's format; null where there is nothing to tell. */
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: string | null;
    readonly param: string | null;
  };
  /** As in the header `request-id`. */
  readonly request_id: string;
}

/** What tells one model from another. */
export interface ModelReply {
  /** What callers send as `model`. */
  readonly id: string;
}

/** A page of the model list. */
export interface ModelListReply {
  /** In the catalogue's order. */
  readonly data: readonly ModelReply[];
  /** True where the page is not the rest of the list. */
  readonly has_more: boolean;
  /** What `before_id` wants for the page before; null for an empty page. */
  readonly first_id: string | null;
  /** What `after_id` wants for the page after; null for an empty page. */
  readonly last_id: string | null;
}

/** An error, in the one shape that both formats' clients read. */
export const errorReply: z.ZodType<ErrorReply> = z.looseObject({
  type: z.literal("error"),
  error: z.looseObject({
    type: z.string().describe(
      "authentication_error, invalid_request_error, …: in the words of the endpoint's format",
    ),
    message: z.string(),
    code: z.string().nullable().describe(
      "model_not_found, insufficient_balance, …",
    ),
    param: z.string().nullable().describe("path of the request field at fault"),
  }),
  request_id: z.string(),
});

/** The message reply. */
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

/** The chat completion reply. */
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

/** A prompt's tokens. */
export const countReply: z.ZodType = z.strictObject({ input_tokens: tokens });

/** A model, for both formats' libraries at once. */
export const modelReply: z.ZodType<ModelReply> = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.iso.datetime(),
});

/** The model list, for both formats' libraries at once. */
export const modelListReply: z.ZodType<ModelListReply> = z.strictObject({
  object: z.literal("list"),
  data: z.array(modelReply),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** What a probe is told. */
export const statusReply: z.ZodType = z.strictObject({ status: z.string() });

/** What a probe for readiness is told; `upstreams` with `?verbose`. */
export const readinessReply: z.ZodType = z.strictObject({
  status: z.string(),
  upstreams: z.array(z.strictObject({
    model: z.string(),
    upstream: z.string(),
    state: z.enum(["closed", "half_open", "open"]),
    since: z.iso.datetime().nullable(),
    resting_until: z.iso.datetime().nullable(),
  })).optional(),
});
