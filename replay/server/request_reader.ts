/**
 * Reads HTTP/1.1 requests from bytes that arrive in any pieces. Pure; the socket is in
 * `connection.ts`.
 */
import { joinBytes } from "../join_bytes.ts";
import type { ReplayRequest } from "../script.ts";

const MAX_HEAD_BYTES = 64 * 1024;
const decoder = new TextDecoder();

/** A request with what it declares about its connection. */
export interface ReceivedRequest {
  readonly request: ReplayRequest;
  /** False for `connection: close` and for HTTP/1.0. */
  readonly keepAlive: boolean;
  /** True for HTTP/1.0, which has no chunked encoding. */
  readonly http10: boolean;
}

/** The bytes are not an acceptable HTTP request; the connection must be closed. */
export class BadRequest extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly http10: boolean;
  readonly length: number | "chunked";
}

/** Incremental parser of the requests on one connection. */
export class RequestReader {
  readonly #maxBodyBytes: number;
  #pending: Uint8Array[] = [];
  #size = 0;
  #head: Head | undefined;
  #chunks: Uint8Array[] = [];
  #chunkBytes = 0;

  /** Larger bodies are refused with 413. */
  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** True while an incomplete request is buffered. */
  get begun(): boolean {
    return this.#head !== undefined || this.#size > 0;
  }

  /** Buffers bytes; they are not copied. */
  push(piece: Uint8Array): void {
    this.#pending.push(piece);
    this.#size += piece.length;
  }

  /**
   * The next complete request; undefined when more bytes are needed.
   * `onExpect` is called once per request with `expect: 100-continue`.
   * @throws {BadRequest} when the bytes are not an acceptable request
   */
  next(onExpect: () => void): ReceivedRequest | undefined {
    if (this.#head === undefined) {
      const head = this.#readHead();
      if (head === undefined) return undefined;
      this.#head = head;
      if (head.headers["expect"]?.toLowerCase() === "100-continue") onExpect();
    }
    const head = this.#head;
    const body = head.length === "chunked"
      ? this.#readChunked()
      : this.#take(head.length);
    if (body === undefined) return undefined;
    this.#head = undefined;
    this.#chunks = [];
    this.#chunkBytes = 0;
    const connection = head.headers["connection"]?.toLowerCase() ?? "";
    const { method, path, headers } = head;
    return {
      request: { method, path, headers, body: decoder.decode(body) },
      keepAlive: !head.http10 && !connection.includes("close"),
      http10: head.http10,
    };
  }

  #readHead(): Head | undefined {
    const seen = this.#joined();
    let start = 0;
    while (seen[start] === 13 || seen[start] === 10) start++;
    const end = indexOfBlankLine(seen, start);
    if (end === -1) {
      if (seen.length > MAX_HEAD_BYTES) {
        throw new BadRequest(431, "Head is too large");
      }
      return undefined;
    }
    this.#take(end + 4);
    return parseHead(
      decoder.decode(seen.subarray(start, end)),
      this.#maxBodyBytes,
    );
  }

  #readChunked(): Uint8Array | undefined {
    for (;;) {
      const seen = this.#joined();
      const lineEnd = indexOfCrlf(seen, 0);
      if (lineEnd === -1) {
        if (seen.length > MAX_HEAD_BYTES) {
          throw new BadRequest(400, "Chunk size line is too long");
        }
        return undefined;
      }
      const text =
        decoder.decode(seen.subarray(0, lineEnd)).split(";")[0]?.trim() ?? "";
      if (!/^[0-9a-f]{1,8}$/i.test(text)) {
        throw new BadRequest(400, "Chunk size is not a number");
      }
      const size = parseInt(text, 16);
      if (size === 0) {
        const trailerEnd = seen[lineEnd + 2] === 13
          ? lineEnd + 2
          : indexOfBlankLine(seen, lineEnd);
        const whole = trailerEnd === lineEnd + 2
          ? trailerEnd + 2
          : trailerEnd + 4;
        if (trailerEnd === -1 || seen.length < whole) return undefined;
        this.#take(whole);
        return joinBytes(this.#chunks);
      }
      if (this.#chunkBytes + size > this.#maxBodyBytes) {
        throw new BadRequest(413, "Body is too large");
      }
      if (seen.length < lineEnd + 2 + size + 2) return undefined;
      this.#chunks.push(seen.subarray(lineEnd + 2, lineEnd + 2 + size));
      this.#chunkBytes += size;
      this.#take(lineEnd + 2 + size + 2);
    }
  }

  #joined(): Uint8Array {
    const [only] = this.#pending;
    if (this.#pending.length === 1 && only !== undefined) return only;
    const joined = joinBytes(this.#pending);
    this.#pending = [joined];
    return joined;
  }

  #take(count: number): Uint8Array | undefined {
    if (this.#size < count) return undefined;
    const joined = this.#joined();
    this.#pending = joined.length === count ? [] : [joined.subarray(count)];
    this.#size -= count;
    return joined.subarray(0, count);
  }
}

function parseHead(text: string, maxBodyBytes: number): Head {
  const [first = "", ...lines] = text.split("\r\n");
  const match = /^([A-Z]+) (\S+) HTTP\/1\.([01])$/.exec(first);
  if (match === null) throw new BadRequest(400, "Request line is malformed");
  const [, method = "", path = "", minor = ""] = match;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new BadRequest(400, "Header line is malformed");
    const name = line.slice(0, colon).toLowerCase();
    // HTTP's optional white space is space and tab only; `trim()` removes more.
    const value = line.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, "");
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return {
    method,
    path,
    headers,
    http10: minor === "0",
    length: bodyLength(headers, maxBodyBytes),
  };
}

function bodyLength(
  headers: Readonly<Record<string, string>>,
  maxBodyBytes: number,
): number | "chunked" {
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked" || length !== undefined) {
      throw new BadRequest(400, "Body length is ambiguous");
    }
    return "chunked";
  }
  if (length === undefined) return 0;
  if (!/^\d{1,15}$/.test(length)) {
    throw new BadRequest(400, "Content-Length is not a number");
  }
  if (Number(length) > maxBodyBytes) {
    throw new BadRequest(413, "Body is too large");
  }
  return Number(length);
}

/** The first CR LF at or after `from`, or -1. */
function indexOfCrlf(seen: Uint8Array, from: number): number {
  for (
    let at = seen.indexOf(13, from);
    at !== -1;
    at = seen.indexOf(13, at + 1)
  ) {
    if (seen[at + 1] === 10) return at;
  }
  return -1;
}

function indexOfBlankLine(seen: Uint8Array, from: number): number {
  for (
    let at = indexOfCrlf(seen, from);
    at !== -1;
    at = indexOfCrlf(seen, at + 1)
  ) {
    if (seen[at + 2] === 13 && seen[at + 3] === 10) return at;
  }
  return -1;
}
