/**
 * What a caller is answered, before it is a `Response` of the platform's. That is made once, where all the headers are known: each
 * further step on one costs more than all the rest of an answer's headers.
 *
 * @module
 */

/** The text of headers, by their names in small letters. */
export type HeaderFields = Readonly<Record<string, string>>;

/** An answer. */
export interface Answer {
  /** HTTP status. */
  readonly status: number;
  /** Beside those that every answer has. */
  readonly headers: HeaderFields;
  /** Text goes out as UTF-8; null is none. */
  readonly body:
    | string
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array>
    | null;
}

/** The answer as the platform takes it. */
export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}
