/**
 * Reads a request body within limits of size (before and after decompression) and time, and parses
 * its JSON strictly.
 */
import { ApiError, invalidField } from "../../translate/model/error.ts";
import { exactJson } from "../../translate/bytes/exact_json.ts";
import {
  isObject,
  type JsonObject,
  MAX_LEVELS,
} from "../../translate/bytes/json.ts";
import { duplicateKey, keysIn } from "../../translate/bytes/duplicate_key.ts";
import {
  FREE_FORM,
  isOtherSpelling,
  otherSpelling,
} from "../../translate/bytes/key_spelling.ts";
import {
  type Look,
  type TopLevel,
  topLevelOf,
} from "../../translate/bytes/json_splice.ts";
import { unsharedKey } from "../../translate/bytes/key_text.ts";
import { parseText } from "../../translate/bytes/parse_text.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import {
  LargeJsonError,
  largeObject,
} from "../../translate/bytes/large_json.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { inTurns } from "../in_turns.ts";
import type { TimerId, Timers } from "../timers.ts";

const LENIENT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Output of a lenient decoder for invalid UTF-8. The client may also have written it. */
const REPLACEMENT = "\ufffd";

export interface BodyLimits {
  /** Largest size in bytes, as declared and after decompression. */
  readonly maxBytes: number;
  /** For the whole body, from the start of reading. */
  readonly timeoutMs: number;
}

export interface JsonBody {
  /** After decompression; forwarded by pass-through. */
  readonly bytes: Uint8Array;
  /** Known only to be an object; the dialect validates its fields. */
  readonly json: JsonObject;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
}

/**
 * Reads a body that must be a JSON object.
 *
 * @param freeForm keys of objects in which a key may repeat, because they are the client's data
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, or `invalid_request` for
 * a body that is not a JSON object
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
  freeForm: ReadonlySet<string> = FREE_FORM,
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
  return await parseJsonBody(
    await readBytes(request, limits, timers),
    freeForm,
  );
}

/**
 * Parses the bytes of a body that must be a JSON object.
 *
 * @throws {ApiError} `invalid_request` for anything else
 */
export async function parseJsonBody(
  bytes: Uint8Array,
  freeForm: ReadonlySet<string> = FREE_FORM,
): Promise<JsonBody> {
  return { bytes, ...await parseObject(bytes, freeForm) };
}

const LARGE_BYTES = 1024 * 1024;
const MANY_PARTS = 10_000;

/** Whether a body is read and written in several turns of the event loop: others run in between. */
export function isLarge(
  { bytes, top }: Pick<JsonBody, "bytes"> & Partial<Pick<JsonBody, "top">>,
): boolean {
  return bytes.length > LARGE_BYTES ||
    (top !== undefined && top.parts > MANY_PARTS);
}

/**
 * What a body may consist of at most, so that reading and translating it stops no other call for
 * long. The longest conversations of agents have a tenth of it.
 */
const LOOK: Look = {
  isOther: isOtherSpelling,
  maxFields: 1_000,
  maxParts: 100_000,
};

async function parseObject(
  bytes: Uint8Array,
  freeForm: ReadonlySet<string>,
): Promise<Omit<JsonBody, "bytes">> {
  if (bytes.length === 0) {
    throw bodyError("the body is empty; it must be a JSON object");
  }
  if (isLarge({ bytes })) return await parseInTurns(bytes, freeForm);
  let text: string;
  try {
    // The strict decoder takes seven times as long, so it runs only if the lenient one replaced
    // something.
    text = LENIENT_UTF8.decode(bytes);
    if (text.includes(REPLACEMENT)) text = STRICT_UTF8.decode(bytes);
  } catch {
    throw bodyError("the body is not valid UTF-8");
  }
  const top = topLevelOf(bytes, text, LOOK);
  assertWithin(top);
  if (isLarge({ bytes, top })) return await parseInTurns(bytes, freeForm);
  let json: unknown;
  try {
    // `exactJson` returns undefined for invalid JSON; `parseText` then throws an error with the
    // position.
    json = (top.hasLongNumber === false ? undefined : exactJson(text)) ??
      parseText(text);
  } catch (error) {
    throw bodyError(
      `the body is not valid JSON: ${
        error instanceof Error ? printable(error.message) : "unreadable"
      }`,
    );
  }
  if (!isObject(json)) throw bodyError("the body must be a JSON object");
  assertShallow(top);
  assertOneReading(
    json,
    top,
    keysIn(json) === top.keys ? undefined : duplicateKey(text, freeForm),
  );
  return { json, top };
}

/** As {@linkcode parseObject}, with other events in between. */
async function parseInTurns(
  bytes: Uint8Array,
  freeForm: ReadonlySet<string>,
): Promise<Omit<JsonBody, "bytes">> {
  // The bytes have just been joined or looked at.
  await nextTurn();
  try {
    const object = await inTurns(largeObject(bytes, LOOK));
    const { top } = object;
    assertWithin(top);
    assertShallow(top);
    const json = await inTurns(object.parse());
    await nextTurn();
    const repeated = keysIn(json) === top.keys
      ? undefined
      : await inTurns(object.duplicateKey(freeForm));
    assertOneReading(json, top, repeated);
    return { json, top };
  } catch (error) {
    throw error instanceof LargeJsonError ? bodyError(error.message) : error;
  }
}

/** The object that is the value of a field of a body; undefined if it is none. */
export async function innerBody(
  { bytes, json, top }: JsonBody,
  field: string,
): Promise<JsonBody | undefined> {
  const inner = json[field];
  const place = top.fields.findLast(({ key }) => key === field);
  if (!isObject(inner) || place === undefined) return undefined;
  const own = bytes.subarray(place.valueStart, place.valueEnd);
  return {
    bytes: own,
    json: inner,
    top: await topOf(own),
  };
}

/** The top level of a body that the gateway wrote or has checked. */
export async function topOf(bytes: Uint8Array): Promise<TopLevel> {
  if (!isLarge({ bytes })) return topLevelOf(bytes);
  // The bytes have just been joined.
  await nextTurn();
  return (await inTurns(largeObject(bytes))).top;
}

function assertWithin({ exceeds }: TopLevel): void {
  if (exceeds === "maxFields") {
    throw bodyError(`the body has more than ${LOOK.maxFields} fields`);
  }
  if (exceeds === "maxParts") {
    throw bodyError(
      `the body consists of more than ${LOOK.maxParts} objects, arrays and values`,
    );
  }
}

function assertShallow({ depth }: TopLevel): void {
  if (depth > MAX_LEVELS) {
    throw bodyError(`the body nests deeper than ${MAX_LEVELS} levels`);
  }
}

/**
 * Parsers differ in which of two equal keys they take: the upstream could use a value that was not
 * validated here.
 *
 * @param repeated the path of the first key that occurs twice; undefined: none
 */
function assertOneReading(
  json: JsonObject,
  top: TopLevel,
  repeated: string | undefined,
): void {
  if (repeated !== undefined) {
    throw invalidField(
      repeated.toWellFormed().slice(0, 200),
      "appears more than once in the body",
    );
  }
  const unshared = unsharedKey(top.fields, json);
  if (unshared !== undefined) {
    throw invalidField(
      unshared.toWellFormed().slice(0, 200),
      "is a key that parsers read differently",
    );
  }
  const other = top.otherSpelling === true ? otherSpelling(json) : undefined;
  if (other !== undefined) {
    throw invalidField(
      other.toWellFormed().slice(0, 200),
      "must be written in lower case: some hosts would read it as the key of that name",
    );
  }
}

/**
 * Reads a body's bytes.
 *
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, `invalid_request`
 */
export async function readBytes(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  const declared = Number(length ?? "0");
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes);
  const encoding = request.headers.get("content-encoding");
  // A body with a declared length cannot exceed it. Reading it at once costs a tenth of reading it
  // in chunks.
  return length !== null && declared <= MAX_WHOLE_BYTES && encoding === null
    ? await wholeBytes(request, limits, timers)
    : await countedBytes(request, encoding, limits, timers);
}

/**
 * Largest body that is read at once: a client that declares more than it sends must not make the
 * gateway allocate more.
 */
const MAX_WHOLE_BYTES = 1024 * 1024;

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
    throw bodyError("the request body could not be read completely");
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
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyPieces(request, encoding, limits, timers)) {
    pieces.push(piece);
  }
  return joinPieces(pieces);
}

/**
 * Reads a body of text as it arrives, within the limits.
 *
 * @throws {ApiError} like {@linkcode readBytes}
 */
export async function* textPieces(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const encoding = request.headers.get("content-encoding");
  const decode = (piece?: Uint8Array): string => {
    try {
      return piece === undefined
        ? decoder.decode()
        : decoder.decode(piece, { stream: true });
    } catch {
      throw bodyError("the body is not valid UTF-8");
    }
  };
  for await (const piece of bodyPieces(request, encoding, limits, timers)) {
    yield decode(piece);
  }
  yield decode();
}

/** Smaller pieces are joined: the platform reads each into a buffer of 64 KiB. */
const LEAST_PIECE_BYTES = 16 * 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * The pieces of a body as they arrive, decompressed, small ones joined.
 *
 * @throws {ApiError} like {@linkcode readBytes}
 */
export async function* bodyPieces(
  request: Request,
  encoding: string | null,
  limits: BodyLimits,
  timers: Timers,
): AsyncGenerator<Uint8Array, void, void> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes);
  if (request.body === null) return;
  const { reader, release } = openBody(request.body, encoding);
  let timedOut = false;
  const timer = timers.set(() => {
    timedOut = true;
    reader.cancel().catch(() => {});
  }, limits.timeoutMs);
  let size = 0;
  let isRead = false;
  /** A small piece as it arrived, or several in `room`. */
  let waiting: Uint8Array = NO_BYTES;
  let room: Uint8Array | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (timedOut) throw tooSlow();
      if (done) {
        isRead = true;
        if (waiting.length > 0) yield waiting;
        return;
      }
      size += value.length;
      if (size > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (
        waiting.length > 0 && waiting.length + value.length > LEAST_PIECE_BYTES
      ) {
        yield room === undefined ? waiting.slice() : waiting;
        waiting = NO_BYTES;
        room = undefined;
      }
      if (value.length >= LEAST_PIECE_BYTES) yield value;
      // Most bodies are one small piece, which is not copied.
      else if (waiting.length === 0) waiting = value;
      else {
        if (room === undefined) {
          room = new Uint8Array(LEAST_PIECE_BYTES);
          room.set(waiting);
        }
        room.set(value, waiting.length);
        waiting = room.subarray(0, waiting.length + value.length);
      }
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw bodyError("the request body could not be read completely");
  } finally {
    timers.clear(timer);
    if (!isRead) await release();
  }
}

interface BodyReader {
  /** Returns decompressed bytes. */
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Releases the rest of the body, still compressed, so that other code can read it. */
  release(): Promise<void>;
}

function openBody(
  body: ReadableStream<Uint8Array>,
  encoding: string | null,
): BodyReader {
  const name = encoding?.trim().toLowerCase() ?? "";
  switch (name) {
    case "identity":
    case "": {
      const reader = body.getReader();
      return {
        reader,
        release() {
          reader.releaseLock();
          return Promise.resolve();
        },
      };
    }
    case "gzip":
    case "x-gzip":
    case "deflate": {
      const { readable, writable } = new DecompressionStream(
        name === "deflate" ? name : "gzip",
      ) as ReadableWritablePair<Uint8Array, Uint8Array>;
      const piped = body.pipeTo(writable, { preventCancel: true })
        .catch(() => {});
      const reader = readable.getReader();
      return {
        reader,
        async release() {
          reader.cancel().catch(() => {});
          await piped;
        },
      };
    }
  }
  throw new ApiError(
    "unsupported_media",
    "content-encoding must be gzip, deflate or identity",
    { retryable: false },
  );
}

function bodyError(message: string): ApiError {
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
  return new ApiError(
    "request_timeout",
    "the request body did not arrive in time",
  );
}

/** Foreign text without control characters, truncated for use in a message. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
