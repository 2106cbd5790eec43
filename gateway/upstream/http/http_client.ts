/**
 * One HTTP call to an upstream, with time limits. Follows no redirect (which could send the key to
 * another host). A request is repeated only if no byte of it was sent.
 *
 * Uses undici's dispatcher instead of `fetch`: reading a stream through `fetch` costs three times
 * as much processor time, and `fetch` has no time limits of its own.
 */
import type { Agent, Dispatcher } from "undici";
import { ApiError } from "../../../translate/model/error.ts";
import type { Timers } from "../../timers.ts";
import { CertificateEnds } from "../../certificate_ends.ts";
import type { ByteSink, ByteSource } from "./byte_source.ts";
import { callError } from "./call_error.ts";
import { NothingSentError } from "./conn_socket.ts";
import { decompress } from "./decompress.ts";
import type { DialOptions } from "./dial.ts";
import { dialingAgent, type DialingOptions } from "./dialing_agent.ts";
import { type CallLimits, PhaseTimer } from "./phase_timer.ts";
import { type ReleasableBody, releasableBody } from "./releasable_body.ts";
import type { IterableBody } from "./resent_body.ts";
import { ResponseHead } from "./response_head.ts";
import { DIRECT, type Way } from "./way.ts";

interface UpstreamCall {
  /** With its query. */
  readonly url: string;
  /** Absent: POST. */
  readonly method?: string;
  /** All headers to send, including the vendor's key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as is, uncompressed. Absent: none. */
  readonly body?: Uint8Array | IterableBody;
  /** Limits that replace the client's; absent: none. */
  readonly limits?: Partial<CallLimits>;
  /** How the address is reached; absent: the client's own way. */
  readonly way?: Way;
  /** Aborts the call in any phase. */
  readonly signal: AbortSignal;
  /** The request goes out on an open connection; again where no byte of it was sent before. */
  readonly onSent?: () => void;
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
  /** The connections to all upstreams: how many are open, and how many of them carry a call. */
  connections(): { readonly open: number; readonly busy: number };
  /** When the certificates of upstreams end. */
  readonly certificateEnds: CertificateEnds;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** Bytes that may wait for the reader before the upstream is paused. */
const HIGH_WATER_BYTES = 256 * 1024;

/** How long an idle connection is kept. */
const KEEP_ALIVE_MS = 4_000;

/** What a client reaches, and how. */
export interface ClientOptions extends Omit<DialOptions, "way"> {
  /** The way of calls without their own, asked at each call; absent: {@linkcode DIRECT}. */
  readonly way?: () => Way;
}

/** Creates an {@linkcode UpstreamClient} with its own connections. */
export function upstreamClient(
  limits: CallLimits,
  timers: Timers,
  options: ClientOptions = {},
): UpstreamClient {
  const certificateEnds = new CertificateEnds();
  const { way: defaultWay = () => DIRECT } = options;
  const agents = new Map<string, Agent>();
  let isClosed = false;
  const agentFor = (way: Way): Agent => {
    const present = agents.get(way.id);
    if (present !== undefined) return present;
    // Ways that are no longer used, as those of replaced certificates.
    for (const [id, { stats }] of agents) {
      if (Object.keys(stats).length === 0) agents.delete(id);
    }
    const agent = dialingAgent(KEEP_ALIVE_MS, {
      ...options,
      way,
      ends: certificateEnds,
    });
    agents.set(way.id, agent);
    // Its calls fail, as those of the others.
    if (isClosed) void agent.destroy();
    return agent;
  };
  return {
    certificateEnds,
    call: (call) =>
      dispatch(
        agentFor(call.way ?? defaultWay()),
        call,
        call.limits === undefined ? limits : { ...limits, ...call.limits },
        timers,
      ),
    connections() {
      let open = 0;
      let busy = 0;
      for (const { stats } of agents.values()) {
        for (const { connected, running } of Object.values(stats)) {
          open += Number(connected ?? 0);
          busy += Number(running ?? 0);
        }
      }
      return { open, busy };
    },
    async close() {
      isClosed = true;
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

function dispatch(
  agent: Agent,
  call: UpstreamCall,
  limits: CallLimits,
  timers: Timers,
): Promise<UpstreamResponse> {
  const { origin, path } = addressOf(call.url);
  const { body } = call;
  const releasable = body instanceof Uint8Array
    ? releasableBody(body)
    : undefined;
  const length = body instanceof Uint8Array && releasable === undefined
    ? undefined
    : body?.length;
  return new Promise((resolve, reject) => {
    const handler = new UpstreamCallHandler(
      call,
      limits,
      timers,
      () => void agent.dispatch(options, handler),
      releasable,
      resolve,
      reject,
    );
    const options: DialingOptions = {
      origin,
      path,
      method: (call.method ?? "POST") as Dispatcher.HttpMethod,
      headers: length === undefined
        ? { ...call.headers }
        : { ...call.headers, "content-length": String(length) },
      // undici accepts any iterable, but its types name only its own kinds of bodies.
      body: (releasable ?? body ?? null) as never,
      onDialing: (attempt) => handler.dialing(attempt),
    };
    handler.start();
  });
}

interface ParsedUrl {
  readonly origin: string;
  readonly path: string;
}

/** Cache of parsed URLs: there are few, one per model and endpoint. */
const ADDRESSES = new Map<string, ParsedUrl>();
const MAX_ADDRESSES = 1_000;

function addressOf(text: string): ParsedUrl {
  const cached = ADDRESSES.get(text);
  if (cached !== undefined) return cached;
  const url = new URL(text);
  const address = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
  };
  if (ADDRESSES.size >= MAX_ADDRESSES) ADDRESSES.clear();
  ADDRESSES.set(text, address);
  return address;
}

/** The undici callbacks of one call, and the queue between them and the reader. */
class UpstreamCallHandler implements Dispatcher.DispatchHandler, ByteSource {
  readonly #signal: AbortSignal;
  #onSent: (() => void) | undefined;
  #send: () => void;
  /** Absent if the body is small. */
  readonly #body: ReleasableBody | undefined;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#abort(this.#signal.reason);
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Paused because the queue is full. */
  #isFull = false;
  /** Paused because the reader asked for it. */
  #isPausedByReader = false;
  #controller: Dispatcher.DispatchController | undefined;
  #dialing: AbortController | undefined;
  #pendingRead: {
    resolve(chunk: Uint8Array | undefined): void;
    reject(error: unknown): void;
  } | undefined;
  #sink: ByteSink | undefined;
  /** The reader notes frames; pushed bytes are no activity by themselves. */
  #countsFrames = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #timer: PhaseTimer;

  constructor(
    { signal, onSent }: Pick<UpstreamCall, "signal" | "onSent">,
    limits: CallLimits,
    timers: Timers,
    send: () => void,
    body: ReleasableBody | undefined,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#onSent = onSent;
    this.#send = send;
    this.#body = body;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
    this.#timer = new PhaseTimer(
      limits,
      timers,
      // If the reader is slower than the upstream, the upstream is paused: that is no silence of
      // the upstream.
      () => this.#controller?.paused === true,
      (error) => this.#abort(error),
    );
  }

  /** Sends the request, unless the call has ended. */
  start(): void {
    if (this.#signal.aborted) {
      this.#finish({ error: abortReason(this.#signal) });
    }
    if (!this.#ended) this.#send();
  }

  /** A connection attempt has begun for this call, and ends with it. */
  dialing(attempt: AbortController): void {
    if (this.#ended) attempt.abort(CALL_ENDED);
    else this.#dialing = attempt;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#dialing = undefined;
    if (this.#signal.aborted || this.#ended) {
      controller.abort(CALL_ENDED);
    } else {
      this.#onSent?.();
      this.#timer.enter("firstByte");
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx responses precede the real one.
    if (status < 200) return;
    // Only a proxy answers so (RFC 9110, section 15.5.8).
    if (status === PROXY_REFUSED) {
      return this.#abort(
        new ApiError("upstream", "could not reach the upstream", {
          note: "the proxy asks for another user or password (status 407)",
        }),
      );
    }
    this.#timer.enter("idle");
    this.#send = SENT;
    this.#body?.release();
    const head = new ResponseHead(headers);
    this.#resolve({
      status,
      header: (name) => head.header(name),
      headers: () => head.headers(),
      body: decompress(this, head.header("content-encoding")),
    });
  }

  onResponseData(
    controller: Dispatcher.DispatchController,
    data: Uint8Array,
  ): void {
    if (this.#ended || data.length === 0) return;
    // Bytes in the queue wait for the reader, who cannot have found frames in them yet.
    if (!this.#countsFrames || this.#sink === undefined) {
      this.#timer.noteActivity();
    }
    // Not a Buffer, whose methods are many times slower here than those of Uint8Array.
    const chunk = new Uint8Array(data.buffer, data.byteOffset, data.length);
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
    controller.pause();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(
    _controller: Dispatcher.DispatchController | undefined,
    error: unknown,
  ): void {
    if (error instanceof NothingSentError && !this.#ended) {
      this.#controller = undefined;
      this.#timer.enter("connect");
      // Deferred: undici has not finished with the closed connection.
      queueMicrotask(() => this.start());
      return;
    }
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
    this.#timer.noteActivity();
    for (const chunk of this.#queue.splice(0)) sink.onChunk(chunk);
    this.#queuedBytes = 0;
    if (this.#failure !== undefined) sink.onError(this.#failure.error);
    else if (this.#ended) sink.onEnd();
    else this.#onRoom();
  }

  pause(): void {
    this.#isPausedByReader = true;
    if (!this.#ended) this.#controller?.pause();
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
    if (this.#controller?.paused !== true) return;
    this.#timer.noteActivity();
    this.#controller.resume();
  }

  countOnlyFrames(): () => void {
    this.#countsFrames = true;
    return () => this.#timer.noteActivity();
  }

  cancel(): void {
    this.#abort(new ApiError("upstream", "the call was aborted"));
  }

  #abort(reason: unknown): void {
    if (this.#ended) return;
    this.#finish({ error: reason });
    this.#queue.length = 0;
    this.#dialing?.abort(CALL_ENDED);
    this.#controller?.abort(CALL_ENDED);
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onSent = undefined;
    this.#send = SENT;
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

const PROXY_REFUSED = 407;

/** Replaces the function that sends a request, which holds its body. */
const SENT = (): void => {};

/**
 * The error that undici receives for a call that has ended. One for all calls: an error references
 * the `this` of every function on its stack, and undici may keep it with a connection.
 */
const CALL_ENDED = new Error("the call has ended");

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new Error("the call was aborted");
}
