/**
 * One HTTP call to an upstream, with time limits. Follows no redirect (which could send the key to
 * another host). A request is repeated only if no byte of it was sent.
 *
 * Uses connections of its own instead of `fetch`: reading a stream through `fetch` costs several
 * times as much processor time, and `fetch` has no time limits.
 *
 * @module
 */
import { ApiError } from "../../translate/model/error.ts";
import type { Timers } from "../timers.ts";
import type { ByteSink, ByteSource } from "./byte_source.ts";
import { certificateFault } from "./certificate_fault.ts";
import type { Connection, ExchangeReceiver } from "./connection.ts";
import { ConnectionPool } from "./connection_pool.ts";
import { decompress } from "./decompress.ts";
import type { Resolve } from "./dial.ts";
import { type CallLimits, PhaseTimer, TIMEOUT_TEXTS } from "./phase_timer.ts";
import {
  requestHead,
  type UpstreamAddress,
  upstreamAddress,
} from "./request_head.ts";
import { ResponseHead } from "./response_head.ts";
import type { HeaderRecord } from "./response_parser.ts";

export interface UpstreamCall {
  /** With its query; the method is always POST. */
  readonly url: string;
  /** All headers to send, including the vendor's key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as is, uncompressed. */
  readonly body: Uint8Array;
  /** Limits that replace the client's; absent: none. */
  readonly limits?: Partial<CallLimits>;
  /** Aborts the call in any phase. */
  readonly signal: AbortSignal;
}

/** The response to a call. */
export interface UpstreamResponse {
  /** 200 or more; a redirect is returned like any other status. */
  readonly status: number;
  /** A header by its lower-case name; undefined if absent. */
  header(name: string): string | undefined;
  /** All headers except malformed ones. */
  headers(): Headers;
  /** Decompressed. Must be read to its end or cancelled, because it holds a connection. */
  readonly body: ByteSource;
}

/** Makes calls. */
export interface UpstreamClient {
  /**
   * Makes one call.
   *
   * @throws {ApiError} `timeout` or `upstream` if no response head arrived; the signal's reason if
   * it was aborted
   */
  call(call: UpstreamCall): Promise<UpstreamResponse>;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** Bytes that may wait for the reader before the upstream is paused. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Creates an {@linkcode UpstreamClient} with its own connection pool. */
export function upstreamClient(
  limits: CallLimits,
  timers: Timers,
  resolve?: Resolve,
): UpstreamClient {
  const pool = new ConnectionPool(timers, resolve);
  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        new UpstreamCallHandler(
          pool,
          call,
          call.limits === undefined ? limits : { ...limits, ...call.limits },
          timers,
          resolve,
          reject,
        ).start();
      }),
    close() {
      pool.close(new Error("the client was closed"));
      return Promise.resolve();
    },
  };
}

/** A request that is not sent yet. */
interface UnsentRequest {
  readonly address: UpstreamAddress;
  readonly head: string;
  readonly body: Uint8Array;
}

/** One call: finds a connection, and queues the body of the response for the reader. */
class UpstreamCallHandler implements ExchangeReceiver, ByteSource {
  readonly #pool: ConnectionPool;
  readonly #signal: AbortSignal;
  /** Undefined once it is sent, so that its body can be freed. */
  #request: UnsentRequest | undefined;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#abort(this.#signal.reason);
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Paused because the queue is full. */
  #isFull = false;
  /** Paused because the reader asked for it. */
  #isPausedByReader = false;
  #connection: Connection | undefined;
  #dialing: AbortController | undefined;
  #pendingRead: {
    resolve(chunk: Uint8Array | undefined): void;
    reject(error: unknown): void;
  } | undefined;
  #sink: ByteSink | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #timer: PhaseTimer;

  constructor(
    pool: ConnectionPool,
    { url, headers, body, signal }: UpstreamCall,
    limits: CallLimits,
    timers: Timers,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
  ) {
    const address = upstreamAddress(url);
    this.#request = {
      address,
      head: requestHead(address, headers, body.length),
      body,
    };
    this.#pool = pool;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
    this.#timer = new PhaseTimer(
      limits,
      timers,
      // If the reader is slower than the upstream, the upstream is paused: that is no silence of
      // the upstream.
      () => this.#connection?.isPaused === true,
      (error) => this.#abort(error),
    );
  }

  /** Sends the request on an idle connection or a new one, unless the call has ended. */
  start(): void {
    if (this.#signal.aborted) {
      this.#finish({ error: abortReason(this.#signal) });
    }
    const address = this.#request?.address;
    if (this.#ended || address === undefined) return;
    const idle = this.#pool.take(address.origin);
    if (idle === undefined) return this.#open(address);
    this.#pool.afterCheck(idle, () => {
      if (this.#ended) {
        this.#pool.put(address.origin, idle);
      } else if (idle.isClosed) this.start();
      else this.#send(idle);
    });
  }

  /** Opens a connection for this call; the attempt ends with the call. */
  #open(address: UpstreamAddress): void {
    const attempt = new AbortController();
    this.#dialing = attempt;
    this.#pool.open(address, attempt).then((connection) => {
      this.#dialing = undefined;
      if (!this.#ended) this.#send(connection);
      else this.#pool.put(address.origin, connection);
    }, (error) => this.onFailure(error));
  }

  #send(connection: Connection): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#connection = connection;
    this.#timer.enter("firstByte");
    connection.send(request.head, request.body, this);
  }

  onHead(status: number, headers: HeaderRecord): void {
    this.#timer.enter("idle");
    const head = new ResponseHead(headers);
    this.#resolve({
      status,
      header: (name) => head.header(name),
      headers: () => head.headers(),
      body: decompress(this, head.header("content-encoding")),
    });
  }

  onBody(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#timer.noteActivity();
    if (this.#sink !== undefined) return this.#sink.onChunk(chunk);
    const pendingRead = this.#pendingRead;
    if (pendingRead !== undefined) {
      this.#pendingRead = undefined;
      pendingRead.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes <= HIGH_WATER_BYTES) return;
    this.#isFull = true;
    this.#connection?.pause();
  }

  onEnd(): void {
    this.#finish(undefined);
  }

  onFailure(error: unknown): void {
    this.#finish({
      error: this.#signal.aborted
        ? abortReason(this.#signal)
        : callError(error),
    });
  }

  read(): Promise<Uint8Array | undefined> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.length;
      if (this.#queuedBytes <= HIGH_WATER_BYTES) this.#onRoom();
      return Promise.resolve(chunk);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#pendingRead = { resolve, reject };
    });
  }

  pushTo(sink: ByteSink): void {
    this.#pendingRead = undefined;
    this.#sink = sink;
    for (const chunk of this.#queue.splice(0)) sink.onChunk(chunk);
    this.#queuedBytes = 0;
    if (this.#failure !== undefined) sink.onError(this.#failure.error);
    else if (this.#ended) sink.onEnd();
    else this.#onRoom();
  }

  pause(): void {
    this.#isPausedByReader = true;
    if (!this.#ended) this.#connection?.pause();
  }

  resume(): void {
    this.#isPausedByReader = false;
    this.#resumeIfPossible();
  }

  #onRoom(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#resumeIfPossible();
  }

  #resumeIfPossible(): void {
    if (this.#isFull || this.#isPausedByReader) return;
    if (!this.#ended) this.#connection?.resume();
  }

  cancel(): void {
    this.#abort(new ApiError("upstream", "the call was aborted"));
  }

  #abort(reason: unknown): void {
    if (this.#ended) return;
    const connection = this.#connection;
    this.#finish({ error: reason });
    this.#queue.length = 0;
    this.#dialing?.abort(CALL_ENDED);
    connection?.close(CALL_ENDED);
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#request = undefined;
    this.#connection = undefined;
    this.#failure = failure;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#timer.stop();
    const pendingRead = this.#pendingRead;
    this.#pendingRead = undefined;
    if (failure === undefined) {
      pendingRead?.resolve(undefined);
      this.#sink?.onEnd();
    } else {
      pendingRead?.reject(failure.error);
      this.#reject(failure.error);
      this.#sink?.onError(failure.error);
    }
  }
}

/**
 * The error of a connection whose call has ended. One for all calls: an error references the `this`
 * of every function on its stack.
 */
const CALL_ENDED = new Error("the call has ended");

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new Error("the call was aborted");
}

/** The client's error for a connection's. It does not reveal the upstream's address. */
function callError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  switch (code) {
    case "ETIMEDOUT":
      return new ApiError("timeout", TIMEOUT_TEXTS.connect);
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return new ApiError("upstream", "could not reach the upstream");
  }
  const note = certificateFault(error);
  return note === undefined
    ? new ApiError("upstream", "the connection to the upstream broke")
    : new ApiError("upstream", "could not reach the upstream", { note });
}
