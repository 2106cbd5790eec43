/**
 * A request for embeddings, as read from the body of `POST /v1/embeddings`.
 */
import { check } from "../model/schema.ts";
import { embeddingsRequest } from "./wire.ts";

/** One text, or its tokens. */
export type EmbeddingInput = string | readonly number[];

/** How a reply writes a vector. */
export type VectorEncoding = "float" | "base64";

/** A request for one vector per input. */
export interface EmbeddingRequest {
  /** The model id of the client. */
  readonly model: string;
  /** At least one. */
  readonly inputs: readonly EmbeddingInput[];
  /** Length of the vectors; absent: the model's own. */
  readonly dimensions?: number;
  readonly encoding: VectorEncoding;
  /** The client's own id of its end user. */
  readonly user?: string;
}

/**
 * Decodes a body.
 *
 * @throws {ApiError} `invalid_request` with the field's path
 */
export function decodeEmbeddings(body: unknown): EmbeddingRequest {
  const { model, input, dimensions, encoding_format, user } = check(
    embeddingsRequest,
    body,
  );
  return {
    model,
    inputs: inputsOf(input),
    ...(dimensions === null || dimensions === undefined ? {} : { dimensions }),
    encoding: encoding_format ?? "float",
    ...(user === null || user === undefined ? {} : { user }),
  };
}

function inputsOf(
  input: string | readonly (string | number | readonly number[])[],
): readonly EmbeddingInput[] {
  if (typeof input === "string") return [input];
  const tokens: number[] = [];
  const inputs: EmbeddingInput[] = [];
  for (const one of input) {
    if (typeof one === "number") tokens.push(one);
    else inputs.push(one);
  }
  return inputs.length === 0 ? [tokens] : inputs;
}
