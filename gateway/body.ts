/**
 * Reading a caller's body: as much as is allowed, counted as it arrives and after decompression, within a time limit; and its
 * JSON, strictly.
 *
 * @module
 */
import { ApiError, invalidField } from "../translate/error.ts";
import { exactJson } from "../translate/exact_json.ts";
import { isObject, type JsonObject } from "../translate/json.ts";
import {
  repeatedKey,
  type TopLevel,
  topLevelOf,
} from "../translate/json_splice.ts";
import { joinPieces } from "../translate/slab.ts";
import type { TimerId, Timers } from "./timers.ts";

const LENIENT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** What a lenient decoder makes of bytes that are none of UTF-8; a caller may also have written it. */
const REPLACEMENT = "\ufffd";

/** Limits of a body. */
export interface BodyLimits {
  /** Most bytes, as declared and as they come out of decompression. */
  readonly maxBytes: number;
  /** For the body as a whole, from the start of its reading. */
  readonly timeoutMs: number;
}

/** A body and what it parses to. */
export interface JsonBody {
  /** After decompression; what pass-through forwards. */
  readonly bytes: Uint8Array;
  /** Known to be an object and no more: its fields are the dialect's to check. */
  readonly json: JsonObject;
  /** Where its fields stand in the bytes. */
  readonly top: TopLevel;
}

/**
 * Reads a body that must be a JSON object.
 *
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, or `invalid_request` for what is not a JSON object
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
): Promise<JsonBody> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim()
    .toLowerCase();
  if (
    type !== undefined && type !== "application/json" &&
    !/^application\/[\w.+-]+\+json$/.test(type)
  ) {
    throw new ApiError(
      "unsupported_media",
      `content-type must be application/json, not ${printable(type)}`,
      {
        retryable: false,
      },
    );
  }
  const bytes = await readBytes(request, limits, timers);
  return { bytes, ...parseObject(bytes) };
}

function parseObject(bytes: Uint8Array): Omit<JsonBody, "bytes"> {
  if (bytes.length === 0) {
    throw malformed("the body is empty; it must be a JSON object");
  }
  let text: string;
  try {
    // The strict one takes seven times as long: it is asked only where there is something to ask.
    text = LENIENT_UTF8.decode(bytes);
    if (text.includes(REPLACEMENT)) text = STRICT_UTF8.decode(bytes);
  } catch {
    throw malformed("the body is not valid UTF-8");
  }
  let json: unknown;
  try {
    // Undefined is no JSON value: then the parser itself tells what is wrong.
    json = exactJson(text) ?? JSON.parse(text);
  } catch (error) {
    throw malformed(
      `the body is not valid JSON: ${
        error instanceof Error ? printable(error.message) : "unreadable"
      }`,
    );
  }
  if (!isObject(json)) throw malformed("the body must be a JSON object");
  // This reader would take the last and an upstream's perhaps the first: what was checked is then not what is done.
  const top = topLevelOf(bytes, text);
  const repeated = repeatedKey(top);
  if (repeated !== undefined) {
    throw invalidField(
      repeated.toWellFormed().slice(0, 200),
      "stands more than once in the body",
    );
  }
  return { json, top };
}

async function readBytes(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  const declared = Number(length ?? "0");
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes);
  const encoding = request.headers.get("content-encoding");
  // A body of a declared length cannot become longer: it is taken as a whole, which costs a tenth of reading it piece by piece.
  return length !== null && declared <= WHOLE_BYTES && encoding === null
    ? await wholeBytes(request, limits, timers)
    : await countedBytes(request, encoding, limits, timers);
}

/** What is taken as a whole; a caller that declares more than it sends should not have that much set aside for it. */
const WHOLE_BYTES = 1024 * 1024;

async function wholeBytes(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
): Promise<Uint8Array> {
  let timer: TimerId | undefined;
  try {
    return new Uint8Array(
      await new Promise<ArrayBuffer>((resolve, reject) => {
        timer = timers.set(() => reject(tooSlow()), limits.timeoutMs);
        request.arrayBuffer().then(resolve, reject);
      }),
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw malformed("the body could not be read to its end");
  } finally {
    if (timer !== undefined) timers.clear(timer);
  }
}

async function countedBytes(
  request: Request,
  encoding: string | null,
  limits: BodyLimits,
  timers: Timers,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  const reader = decompressed(request.body, encoding).getReader();
  let timedOut = false;
  const timer = timers.set(() => {
    timedOut = true;
    reader.cancel().catch(() => {});
  }, limits.timeoutMs);
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (timedOut) throw tooSlow();
      if (done) return joinPieces(pieces);
      size += value.length;
      if (size > limits.maxBytes) throw tooLarge(limits.maxBytes);
      pieces.push(value);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw malformed("the body could not be read to its end");
  } finally {
    timers.clear(timer);
    reader.cancel().catch(() => {});
  }
}

function decompressed(
  body: ReadableStream<Uint8Array>,
  encoding: string | null,
): ReadableStream<Uint8Array> {
  switch (encoding?.trim().toLowerCase() ?? "identity") {
    case "identity":
    case "":
      return body;
    case "gzip":
    case "x-gzip":
      return body.pipeThrough(
        new DecompressionStream("gzip") as ReadableWritablePair<
          Uint8Array,
          Uint8Array
        >,
      );
    case "deflate":
      return body.pipeThrough(
        new DecompressionStream("deflate") as ReadableWritablePair<
          Uint8Array,
          Uint8Array
        >,
      );
  }
  throw new ApiError(
    "unsupported_media",
    "content-encoding must be gzip, deflate or identity",
    { retryable: false },
  );
}

function malformed(message: string): ApiError {
  return new ApiError("invalid_request", message, { retryable: false });
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError(
    "too_large",
    `the body is larger than ${maxBytes} bytes`,
    { retryable: false },
  );
}

function tooSlow(): ApiError {
  return new ApiError("request_timeout", "the body did not arrive in time");
}

/** Foreign text cut short and without control characters, fit for a message. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
