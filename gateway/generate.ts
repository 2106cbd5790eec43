/**
 * THE pipeline of a generation call: decode → choose → reserve → call → relay → settle. Who is calling has been found out
 * before; how errors look on the wire is said by whoever catches them.
 *
 * @module
 */
import type { Dialect, EncodeContext } from "../translate/dialect.ts";
import { upstreamDialect } from "../translate/dialects.ts";
import { ApiError } from "../translate/error.ts";
import type { JsonObject } from "../translate/json.ts";
import { type UpstreamRequest, upstreamRequest } from "../translate/relay.ts";
import type { GenerationRequest } from "../translate/request.ts";
import type { Seen } from "../translate/seen.ts";
import type { Caller, CallOutcome, Reservation } from "./accounts/accounts.ts";
import { inputTokens } from "./estimate.ts";
import { callEntry, NOBODY_THERE } from "./call_entry.ts";
import type { Gateway } from "./gateway.ts";
import { permittedModel, refuseDisabled } from "./permitted_model.ts";
import { pump, type TimerId } from "./pump.ts";
import { rateLimitHeaders } from "./rate_limit_headers.ts";
import { newIdSeed } from "./request_id.ts";
import type { Slot } from "./slots.ts";
import { type Trace, traceOf } from "./trace.ts";
import { attempt, type AttemptResult } from "./upstream/attempt.ts";
import type { Candidate } from "./upstream/candidates.ts";
import { versionHeaders } from "./version_headers.ts";

/** A call as it reaches the pipeline. */
export interface GenerationCall {
  /** What the request is written in, and the reply will be. */
  readonly dialect: Dialect;
  /** Decides which models may be called; pays. */
  readonly caller: Caller;
  /** Names the call to the caller, in the log and in the ledger. */
  readonly requestId: string;
  /** After decompression; forwarded where the upstream speaks the same dialect. */
  readonly bytes: Uint8Array;
  /** What the bytes parse to; not checked yet. */
  readonly body: JsonObject;
  /** As sent: `x-gateway-strict`, version and betas are read from them. */
  readonly headers: Headers;
  /** Aborted when the caller leaves before it has a reply. */
  readonly signal: AbortSignal;
  /** Unix time in milliseconds; the logged duration and the reply's `created` count from it. */
  readonly arrivedMs: number;
  /** For the log: the request's path, which is the route's. */
  readonly path: string;
  /** The call's place; released once the call is settled. */
  readonly slot: Slot;
}

/** The headers that keep intermediaries from holding a stream back. */
const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The most paths that `x-gateway-dropped` names. */
const MAX_DROPPED = 50;

/**
 * Makes a generation call.
 *
 * @throws {ApiError} what went wrong before the caller was told anything
 */
export async function generate(
  gateway: Gateway,
  call: GenerationCall,
): Promise<Response> {
  if (!gateway.accepting()) throw stopping();
  const request = call.dialect.decodeRequest(call.body);
  const candidate = chosen(gateway, call, request);
  const upstream = upstreamRequest(
    { dialect: call.dialect, bytes: call.bytes, body: call.body, request },
    upstreamDialect(candidate.dialect),
    candidate.model.upstreamModel,
    candidate.can,
  );
  refuseLosses(call.headers, upstream.losses);
  const estimate = inputTokens(request);
  const reservation = await gateway.accounts.reserve(call.caller, {
    requestId: call.requestId,
    model: candidate.model.id,
    inputTokens: estimate,
    maxOutputTokens: outputCap(request, candidate),
    ...(request.user === undefined ? {} : { user: request.user }),
  });
  const exchange = new Exchange(
    gateway,
    call,
    request,
    candidate,
    upstream,
    reservation,
    estimate,
  );
  return await exchange.run();
}

function chosen(
  gateway: Gateway,
  call: GenerationCall,
  request: GenerationRequest,
): Candidate {
  refuseDisabled(call.caller);
  const model = permittedModel(gateway, call.caller, request.model);
  const candidate = gateway.offer.candidates(model, call.dialect.name)[0];
  if (candidate === undefined) {
    throw new Error(`model ${model.id} is on offer without a candidate`);
  }
  return candidate;
}

function refuseLosses(headers: Headers, losses: readonly string[]): void {
  const first = losses[0];
  if (
    first === undefined ||
    headers.get("x-gateway-strict")?.toLowerCase() !== "true"
  ) return;
  throw new ApiError(
    "invalid_request",
    `${
      losses.join(", ")
    }: cannot be said to this model's upstream, and x-gateway-strict forbids leaving it out`,
    { param: first, code: "unsupported_parameter", retryable: false },
  );
}

/** The most tokens that can be generated: the caller's cap, that of the upstream's request where it must have one, the model's. */
function outputCap(request: GenerationRequest, candidate: Candidate): number {
  const { maxOutputTokens, defaultMaxTokens, reasoning } = candidate.can;
  // A budget for reasoning comes on top of the default.
  const sentDefault = candidate.dialect === "messages" &&
    (request.reasoning === undefined || reasoning !== "budget");
  return Math.min(
    request.maxTokens ??
      (sentDefault ? defaultMaxTokens : maxOutputTokens ?? defaultMaxTokens),
    maxOutputTokens ?? Infinity,
  );
}

function stopping(): ApiError {
  return new ApiError(
    "unavailable",
    "the gateway is being stopped; try again",
    { retryAfterSeconds: 1 },
  );
}

/** From the reservation to its settling: one call's life. */
class Exchange {
  readonly #gateway: Gateway;
  readonly #call: GenerationCall;
  readonly #request: GenerationRequest;
  readonly #candidate: Candidate;
  readonly #upstream: UpstreamRequest;
  readonly #reservation: Reservation;
  readonly #encode: EncodeContext;
  readonly #abort = new AbortController();
  readonly #trace: Trace | undefined;
  readonly #running: { streaming: boolean; breakOff(error: ApiError): void };
  /** How a call that is broken off is ended in the phase it is in. */
  #fail = (error: ApiError): void => this.#abort.abort(error);
  /** True where what went wrong did so on our side. */
  #ourFault = false;
  #firstByteMs: number | undefined;
  #totalTimer: TimerId | undefined;
  #settled = false;

  constructor(
    gateway: Gateway,
    call: GenerationCall,
    request: GenerationRequest,
    candidate: Candidate,
    upstream: UpstreamRequest,
    reservation: Reservation,
    inputEstimate: number,
  ) {
    this.#gateway = gateway;
    this.#call = call;
    this.#request = request;
    this.#candidate = candidate;
    this.#upstream = upstream;
    this.#reservation = reservation;
    this.#encode = {
      model: candidate.model.id,
      created: Math.floor(call.arrivedMs / 1000),
      idSeed: newIdSeed(),
      wantUsage: request.wantUsage,
      legacyFunctions: request.legacyFunctions === true,
      inputEstimate,
    };
    this.#trace = traceOf(call.headers);
    this.#running = {
      streaming: false,
      breakOff: (error) => {
        this.#ourFault = true;
        this.#fail(error);
      },
    };
    // It is awaited once there is an answer; should it fail before, that is told then.
    reservation.written?.catch(() => {});
  }

  async run(): Promise<Response> {
    const callerLeft = (): void => this.#abort.abort(new CallerLeft());
    if (this.#call.signal.aborted) callerLeft();
    this.#call.signal.addEventListener("abort", callerLeft);
    this.#gateway.running.add(this.#running);
    this.#totalTimer = this.#gateway.timers.set(
      () =>
        this.#running.breakOff(
          new ApiError(
            "timeout",
            "the answer took longer than the gateway allows",
          ),
        ),
      this.#gateway.config.totalTimeoutMs,
    );
    let result: AttemptResult;
    try {
      result = await attempt({
        client: this.#gateway.client,
        candidate: this.#candidate,
        caller: this.#call.dialect,
        upstream: this.#upstream,
        stream: this.#request.stream,
        encode: this.#encode,
        dialectHeaders: this.#call.dialect.name === "messages"
          ? versionHeaders(this.#call.headers)
          : {},
        trace: this.#trace,
        signal: this.#abort.signal,
        firstFrameMs: this.#gateway.config.pingMs,
      });
      await this.#written(result);
    } catch (error) {
      const ended = error instanceof CallerLeft ? "caller_left" : "refused";
      this.#settle(ended, undefined, error);
      if (error instanceof CallerLeft) {
        return new Response(null, { status: NOBODY_THERE });
      }
      throw error;
    } finally {
      this.#call.signal.removeEventListener("abort", callerLeft);
    }
    this.#firstByteMs = this.#gateway.now();
    return result.type === "stream"
      ? this.#stream(result)
      : this.#whole(result);
  }

  /** No byte of the answer before the reservation is in the books; mostly it has been there for long. */
  async #written(result: AttemptResult): Promise<void> {
    try {
      await this.#reservation.written;
    } catch (error) {
      this.#ourFault = true;
      if (result.type === "stream") result.source.cancel();
      throw error;
    }
  }

  #whole(result: AttemptResult & { type: "whole" }): Response {
    this.#settle("complete", result.reply.seen);
    const headers = this.#headers(
      this.#request.stream
        ? STREAM_HEADERS
        : { "content-type": "application/json" },
    );
    return new Response(bodyOf(result.reply.body), { headers });
  }

  #stream(result: AttemptResult & { type: "stream" }): Response {
    const { relay, source, first } = result;
    const running = pump({
      source,
      relay,
      first,
      pingMs: this.#gateway.config.pingMs,
      slowReaderMs: this.#gateway.config.slowReaderMs,
      timers: this.#gateway.timers,
      onEnd: (how) =>
        this.#settle(
          // Who left before the first byte made the upstream's stream fail.
          this.#abort.signal.reason instanceof CallerLeft ? "caller_left" : how,
          relay.seen(),
          relay.seen().error,
        ),
    });
    this.#fail = running.fail;
    this.#running.streaming = true;
    return new Response(running.body, {
      headers: this.#headers(STREAM_HEADERS),
    });
  }

  #headers(own: Readonly<Record<string, string>>): Headers {
    const { config, now } = this.#gateway;
    const headers = new Headers(own);
    const limits = rateLimitHeaders(
      this.#call.dialect.name,
      this.#reservation.limits,
      now(),
    );
    for (const [name, value] of Object.entries(limits)) {
      headers.set(name, value);
    }
    if (this.#upstream.losses.length > 0) {
      headers.set("x-gateway-dropped", droppedHeader(this.#upstream.losses));
    }
    if (config.replay) headers.set("x-gateway-upstream", "replay");
    return headers;
  }

  /** Exactly once per call, however it ends. */
  #settle(ended: CallOutcome["ended"], seen?: Seen, error?: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#gateway.running.delete(this.#running);
    if (this.#totalTimer !== undefined) {
      this.#gateway.timers.clear(this.#totalTimer);
    }
    const outcome: CallOutcome = {
      usage: seen?.usage ?? {},
      generatedChars: seen?.generatedChars ?? 0,
      ended,
    };
    this.#reservation.settle(outcome);
    this.#call.slot.release();
    if (error instanceof Error) this.#gateway.logged.add(error);
    this.#gateway.log(callEntry({
      call: this.#call,
      model: this.#candidate.model,
      stream: this.#request.stream,
      inputTokens: this.#encode.inputEstimate,
      dropped: this.#upstream.losses,
      trace: this.#trace,
      outcome,
      began: seen !== undefined,
      error,
      ourFault: this.#ourFault,
      firstByteMs: this.#firstByteMs,
      nowMs: this.#gateway.now(),
    }));
  }
}

/** Paths hold names that the caller chose: what a header cannot carry is percent-encoded, and a long list is cut. */
function droppedHeader(losses: readonly string[]): string {
  const shown = losses.slice(0, MAX_DROPPED).map((path) =>
    path.slice(0, 200).replaceAll(
      /[^\x21-\x2b\x2d-\x7e]+/g,
      (text) => encodeURIComponent(text.toWellFormed()),
    )
  );
  return [...shown, ...(losses.length > MAX_DROPPED ? ["..."] : [])].join(",");
}

/** The caller went away before it had a reply. */
class CallerLeft extends Error {}

/** Bytes as a body. The cast narrows the buffer's kind only: these bytes are never shared. */
function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? bytes as Uint8Array<ArrayBuffer>
    : new Uint8Array(bytes);
}
