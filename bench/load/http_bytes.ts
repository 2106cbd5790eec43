/**
 * A minimal HTTP/1.1 reader for the mock upstream and the load generator: heads as text, bodies as
 * bytes without their framing. It uses a fraction of an HTTP library's processor time, so that the
 * benchmark's own processes do not dominate.
 */

const CR = 13;
const LF = 10;

/** A source of bytes, such as a connection. */
interface ByteInput {
  /** Reads available bytes into the buffer and returns their number; null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
}

/** Reads the HTTP messages of one connection. */
export class HttpReader {
  readonly #input: ByteInput;
  #buffer = new Uint8Array(64 * 1024);
  #start = 0;
  #end = 0;

  /** Reads from the input only as much as each message needs. */
  constructor(input: ByteInput) {
    this.#input = input;
  }

  /**
   * The next message's head, in lower case except for its first line; undefined at the end of the
   * connection.
   *
   * @throws {Error} when the connection ends inside the head
   */
  async head(): Promise<string | undefined> {
    let looked = this.#start;
    for (;;) {
      const end = blankLine(this.#buffer, looked, this.#end);
      if (end >= 0) {
        const text = latin1(this.#buffer, this.#start, end);
        this.#start = end + 4;
        const line = text.indexOf("\r\n");
        return line < 0
          ? text
          : text.slice(0, line) + text.slice(line).toLowerCase();
      }
      const offset = Math.max(0, this.#end - this.#start - 3);
      if (!await this.#fill()) {
        if (this.#end === this.#start) return undefined;
        throw new Error("the connection ended inside a head");
      }
      looked = this.#start + offset;
    }
  }

  /**
   * Passes the bytes of the body to `sink` as they arrive; they are valid only during the call.
   *
   * @throws {Error} when the connection ends before the body does, or the chunks are malformed
   */
  async body(head: string, sink: (bytes: Uint8Array) => void): Promise<void> {
    if (/\r\ntransfer-encoding: *chunked/.test(head)) {
      return await this.#chunked(sink);
    }
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length !== undefined) return await this.#pass(Number(length), sink);
    if (!head.startsWith("HTTP/")) return;
    do {
      if (this.#end > this.#start) this.#take(this.#end - this.#start, sink);
    } while (await this.#fill());
  }

  async #chunked(sink: (bytes: Uint8Array) => void): Promise<void> {
    for (;;) {
      let line = lineEnd(this.#buffer, this.#start, this.#end);
      while (line < 0) {
        await this.#mustFill();
        line = lineEnd(this.#buffer, this.#start, this.#end);
      }
      const size = hex(this.#buffer, this.#start, line);
      this.#start = line + 2;
      if (size > 0) await this.#pass(size, sink);
      while (this.#end - this.#start < 2) await this.#mustFill();
      if (
        this.#buffer[this.#start] !== CR || this.#buffer[this.#start + 1] !== LF
      ) throw new Error("a chunk does not end with CR LF");
      this.#start += 2;
      if (size === 0) return;
    }
  }

  async #pass(length: number, sink: (bytes: Uint8Array) => void) {
    let missing = length;
    for (;;) {
      const ready = Math.min(missing, this.#end - this.#start);
      if (ready > 0) this.#take(ready, sink);
      missing -= ready;
      if (missing === 0) return;
      await this.#mustFill();
    }
  }

  #take(length: number, sink: (bytes: Uint8Array) => void): void {
    sink(this.#buffer.subarray(this.#start, this.#start + length));
    this.#start += length;
  }

  async #mustFill(): Promise<void> {
    if (!await this.#fill()) {
      throw new Error("the connection ended inside a body");
    }
  }

  async #fill(): Promise<boolean> {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    if (this.#end === this.#buffer.length) {
      if (this.#start === 0) {
        const larger = new Uint8Array(this.#buffer.length * 2);
        larger.set(this.#buffer);
        this.#buffer = larger;
      } else {
        this.#buffer.copyWithin(0, this.#start, this.#end);
        this.#end -= this.#start;
        this.#start = 0;
      }
    }
    const read = await this.#input.read(this.#buffer.subarray(this.#end));
    if (read === null) return false;
    this.#end += read;
    return true;
  }
}

/** A growing buffer that is reused from one body to the next. */
export class ByteBuffer {
  #bytes = new Uint8Array(16 * 1024);
  #length = 0;

  /** The bytes added since the last `clear()`; valid until the next `add()`. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Number of bytes. */
  get length(): number {
    return this.#length;
  }

  /** Appends a copy of the bytes. */
  add(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }

  /** Removes all bytes. */
  clear(): void {
    this.#length = 0;
  }
}

/** Writes all bytes, in several writes where the output accepts only a part. */
export async function writeAll(
  output: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  let written = await output.write(bytes);
  while (written < bytes.length) {
    written += await output.write(bytes.subarray(written));
  }
}

function blankLine(bytes: Uint8Array, from: number, end: number): number {
  for (
    let at = bytes.indexOf(CR, from);
    at >= 0 && at + 3 < end;
    at = bytes.indexOf(CR, at + 1)
  ) {
    if (
      bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF
    ) return at;
  }
  return -1;
}

function lineEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at + 1 < end; at++) {
    if (bytes[at] === CR && bytes[at + 1] === LF) return at;
  }
  return -1;
}

function hex(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const code = bytes[at] ?? 0;
    const digit = code >= 48 && code <= 57
      ? code - 48
      : code >= 97 && code <= 102
      ? code - 87
      : code >= 65 && code <= 70
      ? code - 55
      : undefined;
    if (digit === undefined) {
      // A chunk extension, or trailing spaces.
      if (at > from && (code === 59 || code === 32)) return value;
      throw new Error("a chunk's size is not a number");
    }
    value = value * 16 + digit;
  }
  if (to === from) throw new Error("a chunk has no size");
  return value;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  for (let at = from; at < to; at++) {
    text += String.fromCharCode(bytes[at] ?? 0);
  }
  return text;
}
