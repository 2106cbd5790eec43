/**
 * The forms in which upstreams take texts and return vectors. Each writes a neutral request and
 * reads a reply; the client's own form is passed through in `embedding_call.ts`.
 *
 * Sources, read 2026-11-23: ai.google.dev/api/embeddings; docs.aws.amazon.com/bedrock
 * model-parameters-titan-embed-text, model-parameters-embed.
 */
import { arrayOr, countIn, type JsonObject, objectOr } from "../bytes/json.ts";
import { ApiError, invalidField } from "../model/error.ts";
import type { EmbeddingRequest } from "./embedding_request.ts";
import { numbersIn } from "./vector_encoding.ts";
import { unreadableReply } from "../model/reply_faults.ts";

export type EmbeddingForm = "chat" | "generate_content" | "titan" | "cohere";

/** Vectors, and what they cost. */
export interface Embeddings {
  /** One per input, in the order of the inputs, as the upstream sent them. */
  readonly vectors: readonly unknown[];
  /** Prompt tokens; absent: not reported. */
  readonly inputTokens?: number;
}

/** A form that is not the client's. */
interface TranslatedForm {
  /**
   * The body for an upstream that calls the model `model`.
   *
   * @throws {ApiError} `invalid_request` for an input that the form cannot express
   */
  encode(request: EmbeddingRequest, model: string): JsonObject;
  /** @throws {ApiError} `upstream` for a reply without vectors */
  decode(body: JsonObject, headers: Headers): Embeddings;
}

export const TRANSLATED_FORMS: Readonly<
  Record<Exclude<EmbeddingForm, "chat">, TranslatedForm>
> = {
  generate_content: {
    encode: (request, model) => ({
      requests: textsOf(request).map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        ...(request.dimensions === undefined
          ? {}
          : { outputDimensionality: request.dimensions }),
      })),
    }),
    decode: ({ embeddings, usageMetadata }) => ({
      vectors: arrayOr(embeddings).map((one) => objectOr(one)["values"]),
      ...inputCount(objectOr(usageMetadata)["promptTokenCount"]),
    }),
  },
  titan: {
    encode(request) {
      const [inputText, ...others] = textsOf(request);
      if (others.length > 0) {
        throw invalidField(
          "input",
          "this model's upstream embeds one text per call; send each text in a call of its own",
        );
      }
      return {
        inputText,
        ...(request.dimensions === undefined
          ? {}
          : { dimensions: request.dimensions }),
      };
    },
    decode: ({ embedding, inputTextTokenCount }) => ({
      vectors: [embedding],
      ...inputCount(inputTextTokenCount),
    }),
  },
  cohere: {
    encode: (request) => ({
      texts: textsOf(request),
      // Required by the host; the client's form has no field for it.
      input_type: "search_document",
      embedding_types: ["float"],
      ...(request.dimensions === undefined
        ? {}
        : { output_dimension: request.dimensions }),
    }),
    decode({ embeddings }, headers) {
      const count = headers.get("x-amzn-bedrock-input-token-count");
      return {
        // Older models return the list alone.
        vectors: arrayOr(
          Array.isArray(embeddings)
            ? embeddings
            : objectOr(embeddings)["float"],
        ),
        ...inputCount(count === null ? undefined : Number(count)),
      };
    },
  },
};

/** The vectors of a reply in the client's own form. */
export function decodeChatEmbeddings({ data, usage }: JsonObject): Embeddings {
  const { prompt_tokens, total_tokens } = objectOr(usage);
  return {
    vectors: inOrder(arrayOr(data).map(objectOr)).map(({ embedding }) =>
      embedding
    ),
    ...inputCount(prompt_tokens ?? total_tokens),
  };
}

/** Entries in the order of the inputs that they name by `index`; as they are if they name none. */
function inOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  if (entries.every(({ index }) => index === undefined)) return entries;
  const ordered: JsonObject[] = [];
  for (const entry of entries) {
    const index = countIn(entry["index"]);
    if (
      index === undefined || index >= entries.length ||
      ordered[index] !== undefined
    ) throw unreadable();
    ordered[index] = entry;
  }
  return ordered;
}

/** Every input has tokens, so a count of zero is treated as absent. */
function inputCount(value: unknown): { inputTokens?: number } {
  const inputTokens = countIn(value);
  return inputTokens === undefined || inputTokens === 0 ? {} : { inputTokens };
}

function textsOf({ inputs }: EmbeddingRequest): readonly string[] {
  return inputs.map((input) => {
    if (typeof input === "string") return input;
    throw invalidField(
      "input",
      "this model's upstream takes texts only, not tokens",
    );
  });
}

/** More than any model's vectors have. */
const MAX_NUMBERS = 65_536;

/**
 * A vector, and how many numbers it has.
 *
 * @throws {ApiError} `upstream` for anything but a vector
 */
export function readVector(
  value: unknown,
  form: EmbeddingForm,
): { readonly vector: readonly number[] | string; readonly length: number } {
  if (form === "chat" && typeof value === "string") {
    const length = value.length > MAX_BASE64_CHARS
      ? undefined
      : numbersIn(value);
    if (length === undefined) throw unreadable();
    return { vector: value, length };
  }
  const vector = arrayOr(value);
  const { length } = vector;
  if (
    length > 0 && length <= MAX_NUMBERS &&
    vector.every((one): one is number => Number.isFinite(one))
  ) return { vector, length };
  throw unreadable();
}

const MAX_BASE64_CHARS = Math.ceil(MAX_NUMBERS * 4 / 3) * 4;

/** The error for a reply without the requested vectors. */
export function unreadable(): ApiError {
  return unreadableReply("it lacks the vectors");
}
