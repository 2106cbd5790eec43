/**
 * One HTTP call to an upstream: bytes out, a status and a readable body back, with the time limits that a call needs. It follows
 * no redirect (a key must not travel where nobody sent it) and retries nothing. What the bytes mean is not known here.
 *
 * Undici's dispatcher instead of `fetch`: reading a stream through `fetch`'s reader costs three times as much, and it has no
 * time limits of its own.
 *
 * @module
 */
import { Agent, type Dispatcher } from "undici";
import { ApiError } from "../../translate/error.ts";
import type { TimerId, Timers } from "../timers.ts";
import type { ByteSink, ByteSource } from "./byte_source.ts";
import { decompressed } from "./decompressed.ts";
import { ReplyHead } from "./reply_head.ts";

/** The limits of a call, in milliseconds. */
export interface CallLimits {
  /** From the call to a connection that takes the request. */
  readonly connectTimeoutMs: number;
  /** From the request's last byte to the reply's head. */
  readonly firstByteTimeoutMs: number;
  /** Silence inside the reply's body. */
  readonly idleTimeoutMs: number;
}

/** A call. */
export interface UpstreamCall {
  /** With its query; the method is always POST. */
  readonly url: string;
  /** All that are sent, the vendor's key among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as it is, uncompressed. */
  readonly body: Uint8Array;
  /** Limits of this call that differ from the client's; absent: none does. */
  readonly limits?: Partial<CallLimits>;
  /** Aborting it ends the call at once, in whatever phase it is. */
  readonly signal: AbortSignal;
}

/** What came back. */
export interface UpstreamResponse {
  /** 200 or more; a redirect is given like any other. */
  readonly status: number;
  /** One header by its name in small letters; undefined where it was not sent. */
  header(name: string): string | undefined;
  /** All of them, but for malformed ones, which are left out. */
  headers(): Headers;
  /** Decompressed. It must be read to its end or cancelled: it holds a connection. */
  readonly body: ByteSource;
}

/** Makes calls. */
export interface UpstreamClient {
  /**
   * Makes one call.
   *
   * @throws {ApiError} `timeout` or `upstream` where no reply's head came; the signal's reason where it was aborted
   */
  call(call: UpstreamCall): Promise<UpstreamResponse>;
  /** Lets every connection go. */
  close(): Promise<void>;
}

/** Bytes that may wait to be read before the upstream is told to pause. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Makes an {@linkcode UpstreamClient} with its own pool of connections. */
export function upstreamClient(
  limits: CallLimits,
  timers: Timers,
): UpstreamClient {
  // The client's own limits are off: they are a second coarse, and their clock outlives the calls.
  const agent = new Agent({
    connect: { timeout: 0 },
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4_000,
    pipelining: 1,
  });
  return {
    call: (call) =>
      dispatch(
        agent,
        call,
        call.limits === undefined ? limits : { ...limits, ...call.limits },
        timers,
      ),
    close: () => agent.destroy(),
  };
}

function dispatch(
  agent: Agent,
  call: UpstreamCall,
  limits: CallLimits,
  timers: Timers,
): Promise<UpstreamResponse> {
  const { origin, path } = addressOf(call.url);
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(call.signal, limits, timers, resolve, reject);
    if (call.signal.aborted) {
      exchange.onResponseError(undefined, call.signal.reason);
      return;
    }
    agent.dispatch({
      origin,
      path,
      method: "POST",
      headers: { ...call.headers },
      body: call.body,
    }, exchange);
  });
}

interface Address {
  readonly origin: string;
  readonly path: string;
}

/** Addresses that were taken apart: they are few, one for each model and way of asking. */
const ADDRESSES = new Map<string, Address>();
const MAX_ADDRESSES = 1_000;

function addressOf(text: string): Address {
  const known = ADDRESSES.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const address = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
  };
  if (ADDRESSES.size >= MAX_ADDRESSES) ADDRESSES.clear();
  ADDRESSES.set(text, address);
  return address;
}

/** What is being waited for. */
type Phase = "connect" | "firstByte" | "idle";

const TOO_LATE: Readonly<Record<Phase, string>> = {
  connect: "could not reach the upstream in time",
  firstByte: "the upstream did not answer in time",
  idle: "the upstream fell silent in the middle of its answer",
};

/** The callbacks of one exchange, and the queue between them and the reader. */
class Exchange implements Dispatcher.DispatchHandler, ByteSource {
  readonly #signal: AbortSignal;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#abort(this.#signal.reason);
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** The upstream pauses because too much waits here. */
  #isFull = false;
  /** It pauses because the reader said so. */
  #isHeld = false;
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: {
    resolve(chunk: Uint8Array | undefined): void;
    reject(error: unknown): void;
  } | undefined;
  #sink: ByteSink | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #limits: CallLimits;
  readonly #timers: Timers;
  #phase: Phase = "connect";
  /** When the phase began or the last bytes came, on the monotonic clock. */
  #aliveMs = performance.now();
  #timer: TimerId | undefined;
  /** When the timer goes off. */
  #lookMs = Infinity;

  constructor(
    signal: AbortSignal,
    limits: CallLimits,
    timers: Timers,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#limits = limits;
    this.#timers = timers;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
    this.#enter("connect");
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted || this.#ended) {
      controller.abort(abortReason(this.#signal));
    } else this.#enter("firstByte");
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx answers come before the real one.
    if (status < 200) return;
    this.#enter("idle");
    const head = new ReplyHead(headers);
    this.#resolve({
      status,
      header: (name) => head.header(name),
      headers: () => head.headers(),
      body: decompressed(this, head.header("content-encoding")),
    });
  }

  onResponseData(
    controller: Dispatcher.DispatchController,
    data: Uint8Array,
  ): void {
    if (this.#ended || data.length === 0) return;
    this.#aliveMs = performance.now();
    // Not as a Buffer, whose methods are many times slower here than those of plain bytes.
    const chunk = new Uint8Array(data.buffer, data.byteOffset, data.length);
    if (this.#sink !== undefined) return this.#sink.piece(chunk);
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes <= HIGH_WATER_BYTES) return;
    this.#isFull = true;
    controller.pause();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(
    _controller: Dispatcher.DispatchController | undefined,
    error: unknown,
  ): void {
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
      if (this.#queuedBytes <= HIGH_WATER_BYTES) this.#hasRoom();
      return Promise.resolve(chunk);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  flow(sink: ByteSink): void {
    this.#waiting = undefined;
    this.#sink = sink;
    for (const chunk of this.#queue.splice(0)) sink.piece(chunk);
    this.#queuedBytes = 0;
    if (this.#failure !== undefined) sink.failed(this.#failure.error);
    else if (this.#ended) sink.ended();
    else this.#hasRoom();
  }

  pause(): void {
    this.#isHeld = true;
    if (!this.#ended) this.#controller?.pause();
  }

  resume(): void {
    this.#isHeld = false;
    this.#goOn();
  }

  #hasRoom(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isFull || this.#isHeld) return;
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  cancel(): void {
    this.#abort(new ApiError("upstream", "the call was broken off"));
  }

  /** One timer a call: phases and bytes only note the time, and the timer looks at the note when it goes off. */
  #enter(phase: Phase): void {
    if (this.#ended) return;
    this.#phase = phase;
    this.#aliveMs = performance.now();
    const limitMs = this.#limits[`${phase}TimeoutMs`];
    if (this.#aliveMs + limitMs < this.#lookMs) this.#arm(limitMs);
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#lookMs = performance.now() + ms;
    this.#timer = this.#timers.set(() => this.#look(), ms);
  }

  #look(): void {
    // A reader that is slower than the upstream has made it pause: that is no silence of the upstream's.
    if (this.#controller?.paused === true) this.#aliveMs = performance.now();
    const left = this.#limits[`${this.#phase}TimeoutMs`] -
      (performance.now() - this.#aliveMs);
    if (left > 0) return this.#arm(Math.ceil(left));
    this.#abort(new ApiError("timeout", TOO_LATE[this.#phase]));
  }

  #abort(reason: unknown): void {
    if (this.#ended) return;
    this.#finish({ error: reason });
    this.#queue.length = 0;
    this.#controller?.abort(
      reason instanceof Error ? reason : new Error("the call was broken off"),
    );
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (failure === undefined) {
      waiting?.resolve(undefined);
      this.#sink?.ended();
    } else {
      waiting?.reject(failure.error);
      this.#reject(failure.error);
      this.#sink?.failed(failure.error);
    }
  }
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new Error("the call was broken off");
}

/** What undici's own word for a failure means to a caller. The address of the upstream stays out of it. */
function callError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  switch (code) {
    case "ETIMEDOUT":
      return new ApiError("timeout", TOO_LATE.connect);
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return new ApiError("upstream", "could not reach the upstream");
  }
  return new ApiError("upstream", "the connection to the upstream broke");
}
