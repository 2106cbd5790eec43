/**
 * An HTTP/1.1 connection to an upstream: writes a request, reads its response, one at a time.
 *
 * @module
 */
import type { Conn } from "./dial.ts";
import { ResponseParser, type ResponseReceiver } from "./response_parser.ts";

/** Receives the response to a request, and then exactly one of its ends. */
export interface ExchangeReceiver extends ResponseReceiver {
  /** The response is complete. */
  onEnd(): void;
  /** The response cannot be completed. */
  onFailure(error: unknown): void;
}

/**
 * Consecutive reads fill a slab, and the receiver gets views of it: no copy, and no buffer for each
 * small read. A small slab suffices for a paced stream, and thousands of those may be open.
 */
const SMALL_SLAB_BYTES = 4 * 1024;
/** The slab after a large read. */
const LARGE_SLAB_BYTES = 64 * 1024;
const LARGE_READ_BYTES = 2 * 1024;
/** A slab with less room is full. */
const MIN_ROOM_BYTES = 1024;

/** A head and a body up to this total size are written together. */
const MAX_JOINED_BYTES = 64 * 1024;

const ENCODER = new TextEncoder();

/** A connection, which owns its socket. */
export class Connection {
  readonly #conn: Conn;
  readonly #onFree: (connection: Connection) => void;
  readonly #onClosed: (connection: Connection) => void;
  #slab = new Uint8Array(SMALL_SLAB_BYTES);
  #slabUsed = 0;
  #isReading = false;
  #isWriting = false;
  #isPaused = false;
  #isClosed = false;
  #receiver: ExchangeReceiver | undefined;
  #parser: ResponseParser | undefined;
  /** Start of the last write, on the monotonic clock. */
  #writtenMs = performance.now();
  #idleSeconds: number | undefined;
  /** True once bytes have followed a response. */
  #isSpoiled = false;

  /**
   * Takes over a socket.
   *
   * @param onFree called when a further request may be sent
   * @param onClosed called once, when the connection is closed
   */
  constructor(
    conn: Conn,
    onFree: (connection: Connection) => void,
    onClosed: (connection: Connection) => void,
  ) {
    this.#conn = conn;
    this.#onFree = onFree;
    this.#onClosed = onClosed;
    // An idle connection is read as well, to notice its end.
    this.#read();
  }

  /** Whether the connection is closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether reading is paused. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Start of the last write, on the monotonic clock. */
  get writtenMs(): number {
    return this.#writtenMs;
  }

  /** For how many seconds the upstream keeps the connection idle; undefined if not reported. */
  get idleSeconds(): number | undefined {
    return this.#idleSeconds;
  }

  /** Sends a request. The connection must be free. `head` is Latin-1 and ends in a blank line. */
  send(head: string, body: Uint8Array, receiver: ExchangeReceiver): void {
    this.#receiver = receiver;
    this.#parser = new ResponseParser(receiver);
    this.#writtenMs = performance.now();
    const size = head.length + body.length;
    if (size > MAX_JOINED_BYTES) {
      const bytes = new Uint8Array(head.length);
      writeLatin1(head, bytes);
      this.#write(bytes, body);
      return;
    }
    const bytes = new Uint8Array(size);
    writeLatin1(head, bytes);
    bytes.set(body, head.length);
    this.#write(bytes);
  }

  /** Stops reading; a part that is being read still arrives. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Reverts {@linkcode Connection.pause}. */
  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  /** Closes the connection; a running exchange fails with the error. */
  close(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#conn.close();
    } catch {
      // The system already closed it.
    }
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#parser = undefined;
    this.#onClosed(this);
    receiver?.onFailure(error);
  }

  #write(bytes: Uint8Array, next?: Uint8Array): void {
    this.#isWriting = true;
    this.#conn.write(bytes).then((size) => {
      this.#isWriting = false;
      if (this.#isClosed) return;
      if (size < bytes.length) this.#write(bytes.subarray(size), next);
      else if (next !== undefined && next.length > 0) this.#write(next);
    }, this.#hasFailed);
  }

  #read(): void {
    if (this.#isReading || this.#isClosed || this.#isPaused) return;
    this.#isReading = true;
    this.#conn.read(this.#slab.subarray(this.#slabUsed))
      .then(this.#hasRead, this.#hasFailed);
  }

  readonly #hasRead = (size: number | null): void => {
    this.#isReading = false;
    if (this.#isClosed) return;
    try {
      if (size === null) this.#parser?.end();
      else this.#parse(this.#taken(size));
    } catch (error) {
      return this.close(error);
    }
    // Bytes or an end between two exchanges: nothing that follows could be trusted.
    if (this.#parser === undefined) return this.close(undefined);
    if (this.#parser.isComplete) this.#complete(size === null);
    this.#read();
  };

  readonly #hasFailed = (error: unknown): void => this.close(error);

  /** The bytes that a read has put into the slab. */
  #taken(size: number): Uint8Array {
    const from = this.#slabUsed;
    this.#slabUsed += size;
    const bytes = this.#slab.subarray(from, this.#slabUsed);
    const room = this.#slab.length - this.#slabUsed;
    if (room < MIN_ROOM_BYTES) {
      this.#slab = new Uint8Array(
        room === 0 || size >= LARGE_READ_BYTES
          ? LARGE_SLAB_BYTES
          : SMALL_SLAB_BYTES,
      );
      this.#slabUsed = 0;
    }
    return bytes;
  }

  #parse(bytes: Uint8Array): void {
    const parser = this.#parser;
    if (parser === undefined) return;
    const used = parser.push(bytes);
    // The receiver may have closed the connection.
    if (parser.isComplete && used < bytes.length) this.#isSpoiled = true;
  }

  #complete(isEnd: boolean): void {
    const parser = this.#parser;
    const receiver = this.#receiver;
    this.#parser = undefined;
    this.#receiver = undefined;
    this.#isPaused = false;
    this.#idleSeconds = parser?.idleSeconds;
    const isFree = !isEnd && !this.#isWriting && !this.#isSpoiled &&
      parser?.isReusable === true;
    if (isFree) this.#onFree(this);
    else this.close(undefined);
    receiver?.onEnd();
  }
}

function writeLatin1(text: string, into: Uint8Array): void {
  // A character beyond ASCII takes two bytes of UTF-8, so the text does not fit.
  if (
    ENCODER.encodeInto(text, into.subarray(0, text.length)).read === text.length
  ) {
    return;
  }
  for (let at = 0; at < text.length; at++) into[at] = text.charCodeAt(at);
}
