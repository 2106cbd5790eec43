/**
 * Embeddings at an upstream of any form: the request written, the reply read and written for the
 * client. Where both have one form, the bytes pass through with the model's id replaced.
 */
import { joinPieces } from "../bytes/buffers.ts";
import { isObject, type JsonObject, parseJson } from "../bytes/json.ts";
import { jsonPieces } from "../bytes/json_pieces.ts";
import {
  type Look,
  spliceFields,
  type TopLevel,
  topLevelOf,
} from "../bytes/json_splice.ts";
import { readErrorObject } from "../errors/error_body.ts";
import { errorOfWords } from "../errors/error_words.ts";
import { LargeJsonError, largeObject } from "../bytes/large_json.ts";
import {
  decodeChatEmbeddings,
  type EmbeddingForm,
  readVector,
  TRANSLATED_FORMS,
  unreadable,
} from "./embedding_form.ts";
import type { Steps } from "../steps.ts";
import type { EmbeddingRequest } from "./embedding_request.ts";
import { encodedVector } from "./vector_encoding.ts";

/** A client's request for embeddings. */
export interface EmbeddingClient {
  readonly request: EmbeddingRequest;
  readonly bytes: Uint8Array;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
}

export interface EmbeddingUpstreamRequest {
  readonly bytes: Uint8Array;
  /** Paths of dropped fields. */
  readonly dropped: readonly string[];
}

export interface EmbeddingReading {
  readonly form: EmbeddingForm;
  readonly request: Pick<EmbeddingRequest, "model" | "encoding">;
  readonly count: number;
  /** Written where the upstream reports no usage. */
  readonly inputEstimate: number;
}

interface EmbeddingReply {
  /** JSON. */
  readonly body: Uint8Array;
  /** Prompt tokens; absent: not reported. */
  readonly inputTokens?: number;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/**
 * The request for an upstream that calls the model `model`, in steps.
 *
 * @throws {ApiError} `invalid_request` for an input that the form cannot express
 */
export function* embeddingRequest(
  { request, bytes, top }: EmbeddingClient,
  form: EmbeddingForm,
  model: string,
): Steps<EmbeddingUpstreamRequest> {
  if (form === "chat") {
    return { bytes: spliceFields(bytes, { model }, top), dropped: [] };
  }
  const pieces: Uint8Array[] = [];
  for (
    const text of jsonPieces(TRANSLATED_FORMS[form].encode(request, model))
  ) {
    pieces.push(ENCODER.encode(text));
    yield;
  }
  return {
    bytes: joinPieces(pieces),
    dropped: request.user === undefined ? [] : ["user"],
  };
}

/** An upstream's reply, with its bytes. */
interface ReadEmbeddings {
  readonly bytes: Uint8Array;
  readonly json: JsonObject;
  readonly top: TopLevel;
}

/**
 * Reads an upstream's reply at once.
 *
 * @throws {ApiError} `upstream` for bytes that are no JSON object
 */
export function readEmbeddings(bytes: Uint8Array): ReadEmbeddings {
  const text = DECODER.decode(bytes);
  const json = parseJson(text);
  if (!isObject(json)) throw unreadable();
  return { bytes, json, top: topLevelOf(bytes, text) };
}

/** As {@linkcode readEmbeddings}, in steps: vectors may have millions of numbers. */
export function* readManyEmbeddings(
  bytes: Uint8Array,
  maxParts = MAX_PARTS,
): Generator<void, ReadEmbeddings, void> {
  try {
    const object = yield* largeObject(bytes, { ...BOUNDS, maxParts });
    if (object.top.exceeds !== undefined) throw unreadable();
    return { bytes, json: yield* object.parse(), top: object.top };
  } catch (error) {
    throw error instanceof LargeJsonError ? unreadable() : error;
  }
}

/** Two thousand vectors of 8,000 numbers are read; more would take gigabytes as objects. */
const MAX_PARTS = 20_000_000;
const BOUNDS: Omit<Look, "maxParts"> = {
  isOther: () => false,
  maxFields: 1_000,
};

/**
 * The reply for the client.
 *
 * @throws {ApiError} `upstream` for anything but the requested vectors
 */
export function embeddingReply(
  ...given: Parameters<typeof embeddingReplySteps>
): EmbeddingReply {
  const steps = embeddingReplySteps(...given);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** As {@linkcode embeddingReply}, in steps of one vector. */
export function* embeddingReplySteps(
  reading: EmbeddingReading,
  { bytes, json, top }: ReadEmbeddings,
  headers: Headers,
): Generator<void, EmbeddingReply, void> {
  const { form, request, count } = reading;
  if (isObject(json["error"])) throw errorOfWords(readErrorObject(json));
  const { vectors: sent, inputTokens } = form === "chat"
    ? decodeChatEmbeddings(json)
    : TRANSLATED_FORMS[form].decode(json, headers);
  if (sent.length !== count) throw unreadable();
  const vectors: (readonly number[] | string)[] = [];
  let numbers: number | undefined;
  for (const one of sent) {
    const { vector, length } = readVector(one, form);
    if (length !== (numbers ??= length)) throw unreadable();
    vectors.push(vector);
    yield;
  }
  const isAsAsked = vectors.every((vector) =>
    (typeof vector === "string") === (request.encoding === "base64")
  );
  const body = form === "chat" && isAsAsked && inputTokens !== undefined
    ? spliceFields(bytes, { model: request.model }, top)
    : yield* written(reading, vectors, inputTokens);
  return { body, ...(inputTokens === undefined ? {} : { inputTokens }) };
}

function* written(
  { request, inputEstimate }: EmbeddingReading,
  vectors: readonly (readonly number[] | string)[],
  inputTokens: number = inputEstimate,
): Generator<void, Uint8Array, void> {
  const pieces = [ENCODER.encode('{"object":"list","data":[')];
  for (const [index, vector] of vectors.entries()) {
    const embedding = encodedVector(vector, request.encoding);
    if (embedding === undefined) throw unreadable();
    const entry = JSON.stringify({ object: "embedding", index, embedding });
    pieces.push(ENCODER.encode(index === 0 ? entry : `,${entry}`));
    yield;
  }
  const rest = JSON.stringify({
    model: request.model,
    usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  });
  pieces.push(ENCODER.encode(`],${rest.slice(1)}`));
  return joinPieces(pieces);
}
