/**
 * The answers of the API as zod schemas: for its description, and for tests to hold real answers against.
 *
 * @module
 */
import { z } from "zod";

const tokens = z.int().nonnegative();

/** An error, in the one shape that both formats' clients read. */
export const errorReply = z.looseObject({
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
export const messageReply = z.looseObject({
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
export const chatCompletionReply = z.looseObject({
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
export const countReply = z.strictObject({ input_tokens: tokens });

/** A model, for both formats' libraries at once. */
export const modelReply = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.iso.datetime(),
});

/** The model list, for both formats' libraries at once. */
export const modelListReply = z.strictObject({
  object: z.literal("list"),
  data: z.array(modelReply),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** What a probe is told. */
export const statusReply = z.strictObject({ status: z.string() });
