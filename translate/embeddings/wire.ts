/**
 * The shapes of `POST /v1/embeddings`.
 *
 * Source: type declarations of openai 7.57.0, `resources/embeddings`
 */
import { z } from "zod";
import { list } from "../model/schema.ts";

const MAX_INPUTS = 2048;
const text = z.string().min(1);
const tokens = list(z.int().nonnegative()).min(1);

/** Schema of the body. Other fields go to an upstream of the same format. */
export const embeddingsRequest = z.looseObject({
  model: z.string().min(1).describe(
    "Model id, as listed by GET /v1/models with `embeddings` in its operations.",
  ),
  input: z.union([
    text,
    list(text).min(1).max(MAX_INPUTS),
    tokens,
    list(tokens).min(1).max(MAX_INPUTS),
  ], {
    error:
      `expected a text, up to ${MAX_INPUTS} texts, or tokens in place of each text; none of them empty`,
  }).describe("What to embed: one text or several, or tokens of each."),
  dimensions: z.int().positive().nullish().describe(
    "Length of the vectors, where the model has several.",
  ),
  encoding_format: z.enum(["float", "base64"]).nullish().describe(
    "`base64`: the vector's little-endian 32-bit floats. Default `float`.",
  ),
  user: z.string().nullish().describe("The client's own id of its end user."),
});

export const embeddingsReply: z.ZodType = z.looseObject({
  object: z.literal("list"),
  model: z.string(),
  data: list(z.looseObject({
    object: z.literal("embedding"),
    index: z.int().nonnegative(),
    embedding: z.union([list(z.number()), z.string()]),
  })),
  usage: z.looseObject({
    prompt_tokens: z.int().nonnegative(),
    total_tokens: z.int().nonnegative(),
  }),
});
