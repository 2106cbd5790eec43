/**
 * Unwraps AWS's binary event streams into event-stream text. The JSON of each event keeps its
 * bytes, so that the rest of the way is the same as for a host that sends text.
 */
import { requireFewValues } from "../bytes/few_values.ts";
import { encodeText, joinPieces } from "../bytes/buffers.ts";
import { upstreamJson } from "../bytes/exact_json.ts";
import { isObject, parseJson } from "../bytes/json.ts";
import type { UpstreamDialect } from "../dialect.ts";
import { ApiError } from "../model/error.ts";
import { type AwsFrame, AwsFrameSplitter, corrupt } from "./aws_frames.ts";

/**
 * Statuses of the exceptions that a stream may end with.
 * docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html, 2026-11-22
 */
const EXCEPTION_STATUS: ReadonlyMap<string, number> = new Map([
  ["InternalServerException", 500],
  ["ModelStreamErrorException", 424],
  ["ModelTimeoutException", 408],
  ["ServiceUnavailableException", 503],
  ["ThrottlingException", 429],
  ["ValidationException", 400],
]);

/** Added to the last event; the client's formats do not have it. */
const METRICS = "amazon-bedrock-invocationMetrics";

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const PREFIX = encodeText("event: ").slice();
const DATA = encodeText("\ndata: ").slice();
const END = encodeText("\n\n").slice();
/** For a text that may be cut in the middle of a character. */
const UTF8_LOOSE = new TextDecoder();
/** Fast path: nearly all events have `type` first. */
const TYPE_FIRST = '{"type":"';
const EVENT_NAME = /^[A-Za-z][\w.-]*$/;

/** Decodes an exception of a stream as if it were an error reply. */
type DecodeError = UpstreamDialect["decodeError"];

/**
 * Unwraps one stream. A frame that is no event, a wrong checksum and a cut are errors: they must
 * never look like the end of an answer.
 */
export class AwsEventStream {
  readonly #splitter = new AwsFrameSplitter();
  readonly #decodeError: DecodeError;
  #error: ApiError | undefined;

  /** `decodeError` also decodes exceptions in the stream; they have the form of error replies. */
  constructor(decodeError: DecodeError) {
    this.#decodeError = decodeError;
  }

  /** The failure; bytes returned by the failing `push` are still valid, later ones are ignored. */
  get error(): ApiError | undefined {
    return this.#error;
  }

  /** SSE text of the events that this chunk completes; possibly empty. */
  push(chunk: Uint8Array): Uint8Array {
    const pieces: Uint8Array[] = [];
    if (this.#error !== undefined) return joinPieces(pieces);
    this.#splitter.push(chunk);
    try {
      for (;;) {
        const frame = this.#splitter.next();
        if (frame === undefined) break;
        if (frame.headers.get(":message-type") !== "event") {
          throw this.#frameError(frame);
        }
        pieces.push(...eventText(frame));
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#error = error;
    }
    return joinPieces(pieces);
  }

  /** The body has ended: an unfinished frame is an error. */
  end(): void {
    if (this.#splitter.rest === 0) return;
    this.#error ??= new ApiError(
      "upstream",
      "the upstream's reply ended in the middle of a frame",
    );
  }

  /** The error of an exception, an error, or a frame of unknown kind. */
  #frameError({ headers, payload }: AwsFrame): ApiError {
    const kind = headers.get(":message-type");
    const type = kind === "exception"
      ? headers.get(":exception-type")
      : kind === "error"
      ? headers.get(":error-code")
      : undefined;
    if (type === undefined || !EVENT_NAME.test(type)) return corrupt();
    const name = type.charAt(0).toUpperCase() + type.slice(1);
    const text = headers.get(":error-message");
    return this.#decodeError(
      EXCEPTION_STATUS.get(name) ?? 500,
      new Headers({ "x-amzn-errortype": name }),
      text === undefined
        ? UTF8_LOOSE.decode(payload)
        : JSON.stringify({ message: text }),
    );
  }
}

function eventText({ headers, payload }: AwsFrame): readonly Uint8Array[] {
  const type = headers.get(":event-type") ?? "";
  if (type !== "chunk") return sseFrame(type, payload);
  const json = innerJson(payload);
  const name = typeOf(json);
  return sseFrame(
    name,
    name === "message_stop" ? withoutMetrics(json) : json,
  );
}

/** The event inside a `chunk`: `{"bytes":"<base64>","p":"<padding>"}`. */
function innerJson(payload: Uint8Array): Uint8Array {
  const chunk = parseJsonBytes(payload);
  const bytes = isObject(chunk) ? chunk["bytes"] : undefined;
  if (typeof bytes !== "string") throw corrupt();
  let text: string;
  try {
    text = atob(bytes);
  } catch {
    throw corrupt();
  }
  const json = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) json[at] = text.charCodeAt(at);
  return json;
}

function typeOf(json: Uint8Array): string {
  const head = UTF8_LOOSE.decode(json.subarray(0, 64));
  if (head.startsWith(TYPE_FIRST)) {
    const end = head.indexOf('"', TYPE_FIRST.length);
    if (end > 0) return head.slice(TYPE_FIRST.length, end);
  }
  const event = parseJsonBytes(json);
  const type = isObject(event) ? event["type"] : undefined;
  if (typeof type !== "string") throw corrupt();
  return type;
}

function withoutMetrics(json: Uint8Array): Uint8Array {
  const event = parseJsonBytes(json);
  if (!isObject(event) || event[METRICS] === undefined) return json;
  const { [METRICS]: _metrics, ...rest } = event;
  return encodeText(upstreamJson(rest));
}

function sseFrame(
  name: string,
  json: Uint8Array,
): readonly Uint8Array[] {
  if (!EVENT_NAME.test(name)) throw corrupt();
  return [PREFIX, encodeText(name), DATA, oneLine(json), END];
}

/** Line breaks in JSON are blanks between its parts; in an event stream they would end a line. */
function oneLine(json: Uint8Array): Uint8Array {
  return json.includes(0x0a) || json.includes(0x0d)
    ? json.map((byte) => byte === 0x0a || byte === 0x0d ? 0x20 : byte)
    : json;
}

function parseJsonBytes(json: Uint8Array): unknown {
  try {
    const text = UTF8.decode(json);
    requireFewValues(text);
    return parseJson(text);
  } catch {
    throw corrupt();
  }
}
