/**
 * One generation call from its reservation to its settlement: runs the attempts at upstreams, then
 * sends the reply to the client.
 *
 * @module
 */
import { ApiError, GatewayFault } from "../../translate/model/error.ts";
import { freeTextNames } from "../../translate/model/free_text.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import { streamRelay } from "../../translate/stream/relay.ts";
import type { Limits, Reservation } from "../accounts/accounts.ts";
import type { CallOutcome } from "../accounts/call_outcome.ts";
import type { ActiveCallHandle, Gateway } from "../gateway.ts";
import type { HeaderFields, HttpReply } from "../http/http_reply.ts";
import { replyHeaders } from "../http/reply_headers.ts";
import { newIdSeed } from "../http/request_id.ts";
import { traceOf } from "../http/trace.ts";
import type { CallSpan } from "../observability/call_span.ts";
import { callLogEntry, clientClosedReply } from "../observability/log_entry.ts";
import type { UnderWay } from "../live/live_call.ts";
import type { TimerId } from "../timers.ts";
import type { AttemptContext, AttemptResult } from "../upstream/attempt.ts";
import { deferredStream } from "./deferred_stream.ts";
import type { Failover } from "./failover.ts";
import type { GenerationCall } from "./generation_call.ts";
import { keptStream } from "./kept_stream.ts";
import type { Conversation, ReplyKeeper } from "../responses/conversation.ts";
import { pump, type PumpState } from "./stream_pump.ts";
import { callUnderWay } from "./call_under_way.ts";

/**
 * The parts of a call that are needed until its settlement. The request body is left out so that it
 * can be collected while the reply streams.
 */
type CallSummary = Pick<
  GenerationCall,
  "dialect" | "caller" | "requestId" | "path" | "arrivedMs" | "facts" | "slot"
>;

/** A call with a reservation; settled exactly once. */
export class ActiveCall {
  readonly #gateway: Gateway;
  readonly #call: CallSummary;
  readonly #isStream: boolean;
  /** Number of answers that the client asked for. */
  readonly #answers: number;
  readonly #signal: AbortSignal;
  readonly #reservation: Reservation;
  readonly #abort = new AbortController();
  readonly #span: CallSpan | undefined;
  readonly #context: AttemptContext;
  readonly #failover: Failover;
  readonly #handle: ActiveCallHandle & { streaming: boolean };
  /** Of the running stream. */
  #progress:
    | { readonly of: () => ReplyProgress; readonly pump: () => PumpState }
    | undefined;
  /**
   * How to fail the call in its present phase: aborts the attempt first, later the running stream.
   */
  #fail = (error: ApiError): void => this.#abort.abort(error);
  /** True if the gateway, not the upstream, caused the failure. */
  #causedByGateway = false;
  /** Known once the reservation is durable. */
  #limits: Limits = {};
  #firstByteMs: number | undefined;
  #firstTokenMs: number | undefined;
  #totalTimer: TimerId | undefined;
  #settled = false;
  /** Whether the response began before there was a reply. */
  #isDeferred = false;
  readonly #keeper: ReplyKeeper | undefined;
  /** Whether the reply was stored; undefined where it was not to be, or did not end. */
  #isStored: boolean | undefined;

  /** Makes no upstream call; {@linkcode run} does. */
  constructor(
    gateway: Gateway,
    call: GenerationCall,
    request: GenerationRequest,
    failover: Failover,
    reservation: Reservation,
    conversation?: Conversation,
  ) {
    const { model } = failover;
    const { dialect, caller, requestId, path, arrivedMs, facts, slot } = call;
    this.#gateway = gateway;
    this.#call = { dialect, caller, requestId, path, arrivedMs, facts, slot };
    this.#signal = call.signal;
    this.#isStream = request.stream;
    this.#answers = request.candidates ?? 1;
    this.#failover = failover;
    this.#reservation = reservation;
    this.#keeper = this.#noted(conversation?.keeper);
    this.#span = gateway.startSpan?.({ model: model.id, arrivedMs });
    this.#context = {
      encode: {
        model: model.id,
        created: Math.floor(arrivedMs / 1000),
        endedAt: () => Math.floor(gateway.now() / 1000),
        idSeed: newIdSeed(),
        wantUsage: request.wantUsage,
        legacyFunctions: request.legacyFunctions === true,
        freeTextTools: freeTextNames(request),
        inputEstimate: reservation.inputTokens,
        ...(dialect.echoOf === undefined
          ? {}
          : { echo: dialect.echoOf(call.body), opened: { frames: 0 } }),
        ...(conversation === undefined ? {} : { stored: conversation.stored }),
      },
      trace: this.#span?.trace ?? traceOf(call.headers),
      signal: this.#abort.signal,
    };
    this.#handle = {
      accountId: caller.accountId,
      describe: (nowMs) => this.#describe(nowMs),
      streaming: false,
      abort: (error) => {
        this.#causedByGateway = true;
        this.#fail(error);
      },
    };
    reservation.decided.catch((refusal) => this.#handle.abort(refusal));
  }

  /**
   * Makes the call. Call it once.
   *
   * @throws {ApiError} an error that occurred before any byte reached the client
   */
  async run(): Promise<HttpReply> {
    const gateway = this.#gateway;
    const signal = this.#signal;
    const onDisconnect = (): void =>
      this.#abort.abort(new ClientDisconnected());
    if (signal.aborted) onDisconnect();
    signal.addEventListener("abort", onDisconnect);
    gateway.activeCalls.add(this.#handle);
    const totalMs = this.#failover.model.totalTimeoutMs ??
      gateway.config.totalTimeoutMs;
    this.#totalTimer = gateway.timers.set(() => {
      this.#failover.deadlineReached();
      this.#handle.abort(
        new ApiError(
          "timeout",
          "the answer took longer than the gateway allows",
        ),
      );
    }, totalMs);
    let result: AttemptResult;
    try {
      const attempts = this.#failover.run(
        this.#context,
        gateway.now() + totalMs,
      );
      result = this.#isStream
        ? await this.#withinPingInterval(attempts) ?? this.#defer(attempts)
        : await attempts;
      await this.#awaitReservation(result);
    } catch (error) {
      const ended = error instanceof ClientDisconnected
        ? "caller_left"
        : "refused";
      this.#settle(ended, undefined, error);
      if (error instanceof ClientDisconnected) {
        return clientClosedReply();
      }
      throw error;
    } finally {
      signal.removeEventListener("abort", onDisconnect);
    }
    // A deferred stream begins with a ping.
    if (!this.#isDeferred) this.#firstByteMs = gateway.now();
    return result.type === "stream"
      ? this.#stream(result)
      : await this.#whole(result);
  }

  /** The keeper, with its result noted for the log. */
  #noted(keeper: ReplyKeeper | undefined): ReplyKeeper | undefined {
    return keeper && {
      endOf: keeper.endOf,
      keep: async (end) => this.#isStored = await keeper.keep(end),
    };
  }

  /**
   * The result if it arrives within the ping interval; otherwise undefined: the client is due a
   * ping.
   */
  async #withinPingInterval(
    attempts: Promise<AttemptResult>,
  ): Promise<AttemptResult | undefined> {
    const { timers, config } = this.#gateway;
    const pingDue = Promise.withResolvers<undefined>();
    const timer = timers.set(() => pingDue.resolve(undefined), config.pingMs);
    try {
      return await Promise.race([attempts, pingDue.promise]);
    } finally {
      timers.clear(timer);
    }
  }

  /**
   * Starts the stream without a reply. A retry is no longer possible, because the client receives
   * bytes from now on: the stream carries the reply of the running attempt or its error.
   */
  #defer(attempts: Promise<AttemptResult>): AttemptResult & { type: "stream" } {
    this.#failover.stopRetrying();
    this.#isDeferred = true;
    attempts.then(() => this.#firstByteMs = this.#gateway.now(), () => {});
    const { candidate, upstream } = this.#failover;
    return deferredStream({
      attempts,
      pingRelay: streamRelay(
        this.#call.dialect,
        candidate.dialect,
        upstream.context,
        this.#context.encode,
      ),
      abortAttempts: () => this.#abort.abort(new StreamAbandoned()),
    });
  }

  /**
   * Waits until the reservation is durable, before the first byte of the reply. It usually is by
   * then.
   */
  async #awaitReservation(result: AttemptResult): Promise<void> {
    try {
      this.#limits = await this.#reservation.durable();
    } catch (error) {
      this.#causedByGateway = true;
      if (result.type === "stream") result.source.cancel();
      throw error;
    }
  }

  async #whole(
    { reply }: AttemptResult & { type: "whole" },
  ): Promise<HttpReply> {
    this.#failover.recordEnd("complete");
    if (reply.progress.generatedChars > 0) {
      this.#firstTokenMs = this.#firstByteMs;
    }
    const keeper = this.#keeper;
    const end = keeper?.endOf(reply.body, this.#isStream);
    const isKept = end === undefined || await keeper?.keep(end) === true;
    this.#settle("complete", reply.progress);
    return {
      status: 200,
      headers: this.#headers(),
      body: bodyOf(
        isKept ? reply.body : end.unstored(),
      ),
    };
  }

  #stream(result: AttemptResult & { type: "stream" }): HttpReply {
    const { relay, source, first } = this.#keeper === undefined
      ? result
      : keptStream(result, this.#keeper);
    const streamPump = pump({
      source,
      relay,
      first,
      pingMs: this.#gateway.config.pingMs,
      slowReaderMs: this.#gateway.config.slowReaderMs,
      timers: this.#gateway.timers,
      onToken: () => this.#firstTokenMs = this.#gateway.now(),
      onEnd: (how) => this.#streamEnded(how, relay.progress()),
    });
    this.#fail = streamPump.fail;
    this.#handle.streaming = true;
    this.#progress = { of: () => relay.progress(), pump: streamPump.state };
    return { status: 200, headers: this.#headers(), body: streamPump.body };
  }

  #describe(nowMs: number): UnderWay {
    return callUnderWay({
      call: this.#call,
      failover: this.#failover,
      stream: this.#isStream,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      progress: this.#progress?.of(),
      pump: this.#progress?.pump(),
      nowMs,
    });
  }

  #streamEnded(
    how: "complete" | "failed" | "caller_left",
    progress: ReplyProgress,
  ): void {
    this.#causedByGateway ||= progress.error instanceof GatewayFault;
    // A client that disconnects before the first byte makes the upstream stream fail as well.
    const ended = this.#abort.signal.reason instanceof ClientDisconnected
      ? "caller_left"
      : how;
    if (ended === "complete") this.#failover.recordEnd("complete");
    else if (ended === "failed" && !this.#causedByGateway) {
      this.#failover.recordEnd("failed", progress.error);
    }
    this.#settle(ended, progress, progress.error);
  }

  #headers(): HeaderFields {
    return replyHeaders({
      stream: this.#isStream,
      dialect: this.#call.dialect.name,
      limits: this.#limits,
      dropped: this.#failover.upstream.dropped,
      replay: this.#gateway.config.replay,
      nowMs: this.#gateway.now(),
    });
  }

  /** Runs once per call, however the call ends. */
  #settle(
    ended: CallOutcome["ended"],
    progress?: ReplyProgress,
    error?: unknown,
  ): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#gateway.activeCalls.delete(this.#handle);
    if (this.#totalTimer !== undefined) {
      this.#gateway.timers.clear(this.#totalTimer);
    }
    const outcome: CallOutcome = {
      usage: progress?.usage ?? {},
      // Progress follows the first answer; the others are about as long.
      generatedChars: (progress?.generatedChars ?? 0) *
        this.#answers,
      ended,
    };
    const charge = this.#reservation.settle(outcome);
    this.#call.facts.charge = charge;
    this.#call.slot.release();
    if (error instanceof Error) this.#gateway.loggedErrors.add(error);
    const entry = callLogEntry({
      call: this.#call,
      failover: this.#failover,
      stream: this.#isStream,
      trace: this.#context.trace,
      outcome,
      charge,
      began: progress !== undefined,
      error,
      causedByGateway: this.#causedByGateway,
      isStored: this.#isStored,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      nowMs: this.#gateway.now(),
    });
    this.#gateway.log(entry, this.#call.facts);
    this.#span?.end(entry);
  }
}

/** The client disconnected before the reply began. */
class ClientDisconnected extends Error {}

/** A deferred stream ended before its upstream replied. */
class StreamAbandoned extends Error {}

/**
 * The bytes as a response body. The cast only narrows the buffer type: these bytes are never in
 * shared memory.
 */
function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? bytes as Uint8Array<ArrayBuffer>
    : new Uint8Array(bytes);
}
