/**
 * A Deno connection with the events and methods that undici's HTTP/1.1 client uses of a socket.
 * Some versions of Deno never free the sockets of `node:net`. A `Duplex` of `node:stream` would
 * cost 4 to 10 µs more per whole reply.
 */
import { EventEmitter } from "node:events";
// @ts-types="./undici/symbols.d.ts"
import symbols from "undici/lib/core/symbols.js";
import { monotonicMs } from "../../monotonic_ms.ts";
import { type ReplyParser, skipContinue } from "./skip_continue.ts";
import type { Conn } from "./conn.ts";
import type { StrayBytes } from "./stray_bytes.ts";
import type { SystemEvents } from "./system_events.ts";

/**
 * Consecutive reads fill a slab, and the reader receives views of it: no copy, and no buffer for
 * each small read. A small slab suffices for a paced stream, and thousands of those may be open.
 */
const SMALL_SLAB_BYTES = 4 * 1024;
/** The slab after a large read. */
const LARGE_SLAB_BYTES = 64 * 1024;
const LARGE_READ_BYTES = 2 * 1024;
/** A slab with less room is full. */
const MIN_ROOM_BYTES = 1024;

/** More than this may not wait to be written before a body in pieces is paused. */
const MAX_UNWRITTEN_BYTES = 256 * 1024;
/** Pieces up to this total size are written together. */
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * A connection without a write for this long is checked before the next one. Upstreams keep idle
 * connections for a second or more, and a busy gateway saves the check.
 */
export const CHECK_AFTER_MS = 100;

/** Message of undici's error for bytes that arrive while no request waits for a reply. */
const UNASKED = "bad response";

const ENCODER = new TextEncoder();

/**
 * The end of a connection. By this code undici recognizes an end that concerns only the running
 * request; a request that still waits is then sent on another connection instead of failing.
 */
class ConnectionError extends Error {
  readonly code = "UND_ERR_SOCKET";
}

/** The connection ended before any byte of the running request was written to it. */
export class NothingSentError extends ConnectionError {
  constructor() {
    super("the connection was closed while idle");
  }
}

/** A socket, which owns its connection. */
export class ConnSocket extends EventEmitter {
  readonly #conn: Conn;
  readonly #events: SystemEvents;
  readonly #strays: StrayBytes;
  #slab = new Uint8Array(SMALL_SLAB_BYTES);
  #slabUsed = 0;
  #unread: Uint8Array | undefined;
  #isReading = false;
  #unwritten: Uint8Array[] = [];
  #unwrittenBytes = 0;
  /** A writer waits for `drain`. */
  #isFull = false;
  #isWriting = false;
  #corks = 0;
  /** Start of the last write, on the monotonic clock. */
  #writtenMs = monotonicMs();
  /** A request waits for the check of the connection; see {@linkcode ConnSocket.#check}. */
  #isChecking = false;
  /** A reply has begun to arrive: a further request would be the connection's second. */
  #isUsed = false;
  #destroyed = false;
  #parser: ReplyParser | null = null;

  /** Takes over a connection. */
  constructor(conn: Conn, events: SystemEvents, strays: StrayBytes) {
    super();
    this.#conn = conn;
    this.#events = events;
    this.#strays = strays;
    // Reads before undici asks, to notice the end of an idle connection.
    this.#readMore();
  }

  /** undici's parser of the replies, until the connection is closed. */
  get [symbols.kParser](): ReplyParser | null {
    return this.#parser;
  }

  set [symbols.kParser](parser: ReplyParser | null) {
    if (parser !== null) skipContinue(parser);
    this.#parser = parser;
  }

  /** Whether the connection was closed. */
  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** Returns the bytes read so far, or null and starts a read that ends with `readable`. */
  read(): Uint8Array | null {
    const unread = this.#unread;
    if (unread === undefined) {
      this.#readMore();
      return null;
    }
    this.#unread = undefined;
    return unread;
  }

  /** Returns the unused end of what {@linkcode ConnSocket.read} returned. */
  unshift(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#unread = bytes;
  }

  #readMore(): void {
    if (this.#isReading || this.#destroyed) return;
    this.#isReading = true;
    this.#conn.read(this.#slab.subarray(this.#slabUsed))
      .then(this.#hasRead, this.#hasFailed);
  }

  readonly #hasRead = (size: number | null): void => {
    this.#isReading = false;
    if (this.#destroyed) return;
    if (size === null) return void this.emit("end");
    if (this.#isChecking) {
      // A reply cannot precede its request.
      this.#strays.seen();
      return void this.destroy(new NothingSentError());
    }
    this.#isUsed = true;
    const from = this.#slabUsed;
    this.#slabUsed += size;
    this.#unread = this.#slab.subarray(from, this.#slabUsed);
    const room = this.#slab.length - this.#slabUsed;
    if (room < MIN_ROOM_BYTES) {
      this.#slab = new Uint8Array(
        room === 0 || size >= LARGE_READ_BYTES
          ? LARGE_SLAB_BYTES
          : SMALL_SLAB_BYTES,
      );
      this.#slabUsed = 0;
    }
    this.emit("readable");
  };

  readonly #hasFailed = (error: unknown): void => {
    this.destroy(
      new ConnectionError(error instanceof Error ? error.message : "unknown"),
    );
  };

  /**
   * Writes bytes or Latin-1 text. undici writes a whole request at once, corked; of a body in
   * pieces it writes the next one after `drain`, if the result is false.
   */
  write(piece: string | Uint8Array): boolean {
    this.#unwritten.push(typeof piece === "string" ? latin1(piece) : piece);
    this.#unwrittenBytes += piece.length;
    if (this.#corks === 0) this.#startWriting();
    this.#isFull ||= this.#unwrittenBytes > MAX_UNWRITTEN_BYTES;
    return !this.#isFull;
  }

  /** Buffers writes until {@linkcode ConnSocket.uncork}. */
  cork(): void {
    this.#corks++;
  }

  /** Writes the buffered pieces together. */
  uncork(): void {
    if (--this.#corks === 0) this.#startWriting();
  }

  #startWriting(): void {
    if (this.#isWriting || this.#isChecking) return;
    if (this.#isUsed && !this.#strays.allowsReuse) {
      return void this.destroy(new NothingSentError());
    }
    const nowMs = monotonicMs();
    if (nowMs - this.#writtenMs >= CHECK_AFTER_MS) return this.#check();
    this.#writtenMs = nowMs;
    this.#writeMore();
  }

  /**
   * Lets the pending read notice the end of an idle connection before a request is written. undici
   * waits for one turn of the event loop, which does not suffice; see {@linkcode SystemEvents}.
   */
  #check(): void {
    this.#isChecking = true;
    this.#events.after(() => {
      if (this.#destroyed) return;
      this.#isChecking = false;
      this.#writtenMs = monotonicMs();
      this.#writeMore();
    });
  }

  #writeMore(): void {
    if (this.#isWriting || this.#destroyed) return;
    const [piece, ...rest] = joinSmall(this.#unwritten);
    this.#unwritten = rest;
    if (piece === undefined) {
      if (this.#isFull) {
        this.#isFull = false;
        this.emit("drain");
      }
      return;
    }
    this.#isWriting = true;
    this.#conn.write(piece).then((size) => {
      this.#isWriting = false;
      this.#unwrittenBytes -= size;
      if (size < piece.length) this.#unwritten.unshift(piece.subarray(size));
      this.#writeMore();
    }, this.#hasFailedToWrite);
  }

  /**
   * An upstream that refuses a body before it has all of it may close the connection behind its
   * reply. So what has arrived is read first; the read after that fails, which destroys the socket.
   * `#isWriting` stays set: nothing more is written.
   */
  readonly #hasFailedToWrite = (): void => {
    this.#unwritten = [];
    if (this.#unread === undefined) this.#readMore();
  };

  /** Closes the connection and drops pending reads and writes. */
  destroy(error?: Error): this {
    if (this.#destroyed) return this;
    if (error?.message === UNASKED) this.#strays.seen();
    this.#destroyed = true;
    this.#unread = undefined;
    this.#unwritten = [];
    try {
      this.#conn.close();
    } catch {
      // The system already closed it.
    }
    // Deferred: undici destroys the socket inside its parser, and frees the parser at `close`.
    queueMicrotask(() => {
      if (error !== undefined) {
        this.emit("error", this.#isChecking ? new NothingSentError() : error);
      }
      this.emit("close");
    });
    return this;
  }

  /** Never called: undici recognizes a stream by this method, and destroys only streams. */
  pipe(): never {
    throw new Error("a connection to an upstream cannot be piped");
  }

  /** No effect: idle connections are closed with the client that owns them. */
  ref(): this {
    return this;
  }

  /** See {@linkcode ConnSocket.ref}. */
  unref(): this {
    return this;
  }
}

function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  // A character beyond ASCII takes two bytes of UTF-8, so the text does not fit.
  if (ENCODER.encodeInto(text, bytes).read < text.length) {
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  }
  return bytes;
}

function joinSmall(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  if (pieces.length < 2) return pieces;
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  if (size > MAX_JOINED_BYTES) return pieces;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return [all];
}
