/**
 * Parses HTTP/1.1 responses (RFC 9112), strictly: an upstream that breaks the protocol gets an
 * error, because a tolerant reading could take one response for the end of another.
 *
 * @module
 */

/** Header fields: lower-case names, a list if a field was sent more than once. */
export type HeaderRecord = Readonly<Record<string, string | string[]>>;

/** Receives a response. */
export interface ResponseReceiver {
  /** The head of the response; informational responses before it are skipped. */
  onHead(status: number, headers: HeaderRecord): void;
  /** The next part of the body, valid as long as the receiver keeps it. */
  onBody(bytes: Uint8Array): void;
}

/** The bytes are not HTTP/1.1, or exceed a limit. */
export class ProtocolError extends Error {}

/** Largest head, and largest trailer section. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Largest line with the size of a chunk, with its extensions. */
const MAX_SIZE_LINE_BYTES = 1024;
/** A double represents every number of this many hexadecimal digits. */
const MAX_SIZE_DIGITS = 13;

const LF = 0x0a;
const CR = 0x0d;
const SEMICOLON = 0x3b;
const DECODER = new TextDecoder();

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\0\r\n]*)?$/;
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const LENGTH = /^\d{1,15}$/;

/** What the next byte is part of. */
type State =
  | "head"
  | "length"
  | "until close"
  | "chunk size"
  | "chunk data"
  | "chunk end"
  | "trailers"
  | "complete";

/** Parses one response. */
export class ResponseParser {
  readonly #receiver: ResponseReceiver;
  #state: State = "head";
  /** Bytes of an incomplete head, size line or trailer section. */
  #pending: Uint8Array | undefined;
  /** Bytes of the body, or of the chunk, that have not arrived. */
  #left = 0;
  #isReusable = true;
  #idleSeconds: number | undefined;

  /** Bytes are passed to {@linkcode push}. */
  constructor(receiver: ResponseReceiver) {
    this.#receiver = receiver;
  }

  /** Whether the response has ended. */
  get isComplete(): boolean {
    return this.#state === "complete";
  }

  /** Whether the upstream keeps the connection open after this response. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  /** For how many seconds the upstream keeps an idle connection; undefined if not reported. */
  get idleSeconds(): number | undefined {
    return this.#idleSeconds;
  }

  /**
   * Parses the next bytes of the connection. The chunks of a body are moved together in them.
   *
   * @returns the number of bytes that belong to this response
   * @throws {ProtocolError} for bytes that are not HTTP/1.1
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "complete") {
      switch (this.#state) {
        case "head":
          at = this.#readHead(bytes, at);
          break;
        case "length":
          at = this.#readLength(bytes, at);
          break;
        case "until close":
          this.#receiver.onBody(at === 0 ? bytes : bytes.subarray(at));
          at = bytes.length;
          break;
        default:
          at = this.#readChunks(bytes, at);
      }
    }
    return at;
  }

  /**
   * The upstream has closed the connection.
   *
   * @throws {ProtocolError} if the response is incomplete
   */
  end(): void {
    if (this.#state === "until close") this.#state = "complete";
    if (this.#state !== "complete") {
      throw new ProtocolError("the connection ended within the response");
    }
  }

  /** Reads a head that ends in `bytes`; otherwise keeps its part. */
  #readHead(bytes: Uint8Array, at: number): number {
    const { block, end } = this.#block(bytes, at);
    if (block === undefined) return end;
    this.#parseHead(DECODER.decode(block));
    return end;
  }

  /**
   * The bytes up to the next blank line, with those from earlier reads; undefined where it has not
   * arrived.
   */
  #block(
    bytes: Uint8Array,
    at: number,
  ): { readonly block: Uint8Array | undefined; readonly end: number } {
    const before = this.#pending?.length ?? 0;
    const all = this.#pending === undefined
      ? at === 0 ? bytes : bytes.subarray(at)
      : joined(this.#pending, bytes.subarray(at));
    const end = blankLineEnd(all, Math.max(0, before - 3));
    if ((end < 0 ? all.length : end) > MAX_HEAD_BYTES) {
      throw new ProtocolError("the head is too long");
    }
    if (end < 0) {
      // A copy: the bytes are overwritten by later reads.
      this.#pending = before === 0 ? all.slice() : all;
      return { block: undefined, end: bytes.length };
    }
    this.#pending = undefined;
    return { block: all.subarray(0, end), end: at + end - before };
  }

  #parseHead(text: string): void {
    const [first = "", ...lines] = text.slice(0, -4).split("\r\n");
    const status = STATUS_LINE.exec(first);
    if (status === null) throw new ProtocolError("the status line is invalid");
    const headers: Record<string, string | string[]> = Object.create(null);
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(0, colon));
      const value = trimmed(line, colon + 1);
      if (!FIELD_NAME.test(name) || CONTROL.test(value)) {
        throw new ProtocolError("a header is invalid");
      }
      const key = name.toLowerCase();
      const known = headers[key];
      headers[key] = known === undefined ? value : [known, value].flat();
    }
    const code = Number(status[2]);
    if (code === 101) throw new ProtocolError("an unrequested upgrade");
    if (code < 200) return;
    this.#frame(code, status[1] === "1", headers);
    this.#receiver.onHead(code, headers);
  }

  /** Determines where the body ends (RFC 9112, section 6.3). */
  #frame(code: number, isVersion11: boolean, headers: HeaderRecord): void {
    const connection = String(headers["connection"] ?? "").toLowerCase();
    this.#isReusable = isVersion11 && !/\bclose\b/.test(connection);
    const seconds = /\btimeout=(\d{1,6})\b/i
      .exec(String(headers["keep-alive"] ?? ""))?.[1];
    if (seconds !== undefined) this.#idleSeconds = Number(seconds);
    const coding = headers["transfer-encoding"];
    const length = headers["content-length"];
    if (coding !== undefined) {
      if (String(coding).toLowerCase() !== "chunked" || length !== undefined) {
        throw new ProtocolError("the transfer coding is not supported");
      }
      this.#state = "chunk size";
    } else if (length !== undefined) {
      if (typeof length !== "string" || !LENGTH.test(length)) {
        throw new ProtocolError("the content length is invalid");
      }
      this.#left = Number(length);
      this.#state = this.#left === 0 ? "complete" : "length";
    } else {
      this.#state = "until close";
      this.#isReusable = false;
    }
    if (code === 204 || code === 304) this.#state = "complete";
  }

  #readLength(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = "complete";
    this.#receiver.onBody(
      at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end),
    );
    return end;
  }

  /** Reads chunks up to the end of `bytes`, and passes their data on in one piece. */
  #readChunks(bytes: Uint8Array, start: number): number {
    let at = start;
    /** The data so far is at `bytes[from]` to `bytes[to - 1]`. */
    let from = -1;
    let to = -1;
    try {
      while (at < bytes.length && this.#state !== "complete") {
        switch (this.#state) {
          case "chunk size":
            at = this.#readSize(bytes, at);
            break;
          case "chunk data": {
            const end = Math.min(bytes.length, at + this.#left);
            if (from < 0) from = to = at;
            else if (to !== at) bytes.copyWithin(to, at, end);
            to += end - at;
            this.#left -= end - at;
            if (this.#left === 0) {
              this.#left = 2;
              this.#state = "chunk end";
            }
            at = end;
            break;
          }
          case "chunk end":
            if (bytes[at++] !== (this.#left === 2 ? CR : LF)) {
              throw new ProtocolError("a chunk is longer than its size");
            }
            if (--this.#left === 0) this.#state = "chunk size";
            break;
          default:
            at = this.#readTrailers(bytes, at);
        }
      }
    } finally {
      // Also the data before an error.
      if (to > from) this.#receiver.onBody(bytes.subarray(from, to));
    }
    return at;
  }

  #readSize(bytes: Uint8Array, at: number): number {
    const found = bytes.indexOf(LF, at);
    const end = found < 0 ? bytes.length : found + 1;
    const line = this.#pending === undefined
      ? bytes.subarray(at, end)
      : joined(this.#pending, bytes.subarray(at, end));
    if (line.length > MAX_SIZE_LINE_BYTES) {
      throw new ProtocolError("a chunk's size is too long");
    }
    if (found < 0) {
      this.#pending = line.slice();
      return end;
    }
    this.#pending = undefined;
    this.#left = sizeIn(line);
    this.#state = this.#left === 0 ? "trailers" : "chunk data";
    return end;
  }

  /** Skips the fields after the last chunk. */
  #readTrailers(bytes: Uint8Array, at: number): number {
    // The blank line follows the last chunk's line end, which belongs to it if there is no field.
    this.#pending ??= Uint8Array.of(CR, LF);
    const { block, end } = this.#block(bytes, at);
    if (block !== undefined) this.#state = "complete";
    return end;
  }
}

/** The size in a line such as `1f;name=value`, with its line end. */
function sizeIn(line: Uint8Array): number {
  let size = 0;
  let at = 0;
  for (; at < line.length; at++) {
    const digit = hexValue(line[at] ?? 0);
    if (digit < 0) break;
    size = size * 16 + digit;
  }
  const isLineEnd = line[at] === CR && at + 2 === line.length;
  const isExtension = line[at] === SEMICOLON && line.at(-2) === CR &&
    !CONTROL.test(DECODER.decode(line.subarray(at, -2)));
  if (
    at === 0 || at > MAX_SIZE_DIGITS || !(isLineEnd || isExtension)
  ) throw new ProtocolError("a chunk's size is invalid");
  return size;
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** The position after the first CR LF CR LF at or after `from`; -1 where there is none. */
function blankLineEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(CR, from); at >= 0;) {
    if (
      bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF
    ) return at + 4;
    at = bytes.indexOf(CR, at + 1);
  }
  return -1;
}

/** The rest of a line without spaces and tabs around it. */
function trimmed(line: string, start: number): string {
  let from = start;
  let to = line.length;
  while (isBlank(line.charCodeAt(from))) from++;
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--;
  return line.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
