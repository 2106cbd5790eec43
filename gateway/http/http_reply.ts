/**
 * A response before it becomes a `Response` of the platform. That object is created once, when all
 * headers are known: changing the headers of a `Response` is slow.
 */

/** Header values by lower-case name. */
export type HeaderFields = Readonly<Record<string, string>>;

export interface HttpReply {
  /** HTTP status. */
  readonly status: number;
  /** In addition to the headers that every response has. */
  readonly headers: HeaderFields;
  /** Text is sent as UTF-8; null is no body. */
  readonly body:
    | string
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array>
    | null;
  /** True for a file that the store is read for while the client reads it. */
  readonly isFile?: true;
  /** In place of a response whose connection has become a web socket. */
  readonly handshake?: Response;
}

/** A longer body is sent in pieces: the platform would copy all of it in one turn. */
const PIECE_BYTES = 1024 * 1024;

/** Converts the reply to the platform's `Response`. */
export function toResponse(
  { status, headers, body, handshake }: HttpReply,
): Response {
  if (handshake !== undefined) return handshake;
  if (!(body instanceof Uint8Array) || body.length <= PIECE_BYTES) {
    return new Response(body, { status, headers });
  }
  return new Response(inPieces(body), {
    status,
    headers: { ...headers, "content-length": String(body.length) },
  });
}

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
      if (at >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
}

/**
 * The bytes as a response body. The cast only narrows the buffer type: these bytes are never in
 * shared memory.
 */
export function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? bytes as Uint8Array<ArrayBuffer>
    : new Uint8Array(bytes);
}
