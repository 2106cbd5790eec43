/**
 * A call that is paid for, from its reservation to its settlement: concurrency slot, deadline,
 * attempts at upstreams, the reply to the client, charge, log and span. What is asked of the
 * upstream is the operation's business.
 */
import { ApiError, GatewayFault } from "../../translate/model/error.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { Settings } from "../../translate/model/settings.ts";
import type {
  IntendedCall,
  Limits,
  Reservation,
} from "../accounts/accounts.ts";
import type { CallOutcome } from "../accounts/call_outcome.ts";
import type { UsageBound } from "../accounts/charges/usage_bound.ts";
import type { ActiveCallHandle, Gateway } from "../gateway.ts";
import {
  bodyOf,
  type HeaderFields,
  type HttpReply,
} from "../http/http_reply.ts";
import { replyHeaders } from "../http/reply_headers.ts";
import { traceOf } from "../http/trace.ts";
import type { CallSpan } from "../observability/call_span.ts";
import { clientClosedReply } from "../observability/log_entry.ts";
import type { UnderWay } from "../live/live_call.ts";
import type { TimerId } from "../timers.ts";
import type { AttemptContext } from "../upstream/attempt.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type {
  Operation,
  ReadReply,
  Reply,
  StreamedReply,
} from "../upstream/operation.ts";
import type { CallRequest } from "./call_request.ts";
import { callUnderWay } from "./call_under_way.ts";
import { ClientPresence, type HiddenOutput } from "./client_presence.ts";
import { deferredStream } from "./deferred_stream.ts";
import { Failover } from "./failover.ts";
import { type Pump, pump, type PumpState } from "./stream_pump.ts";
import { reportCall } from "./report_call.ts";
import type { Tap } from "./tap.ts";

/** What is paid for. */
interface PaidOperation {
  /** Its name in spans and metrics, by OpenTelemetry's conventions. */
  readonly name: string;
  readonly model: Model;
  /** What the client asked for beside its prompt, for spans; absent: nothing. */
  readonly settings?: Partial<Settings>;
  readonly operation: Operation<Reply>;
  /** Number of replies that the client asked for; progress follows the first. */
  readonly replyCount: number;
  /** The most that `candidate` can have used for a body of so many bytes. */
  readonly mostUsage: (candidate: Candidate, sentBytes: number) => UsageBound;
  /** In the order in which they see the reply. */
  readonly taps: readonly Tap[];
  /** How much of a reply may be generated out of the client's sight; absent: nothing is. */
  readonly hidden?: HiddenOutput;
  /**
   * What is reserved; any of the candidates may reply.
   *
   * @throws {ApiError} `invalid_request` for something without a price
   */
  worstCase(
    candidates: readonly Candidate[],
  ): Omit<IntendedCall, "requestId" | "model">;
}

/**
 * Reserves a call, makes it and settles it.
 *
 * @throws {ApiError} an error that occurred before any byte reached the client
 */
export async function payFor(
  gateway: Gateway,
  call: CallRequest,
  paid: PaidOperation,
): Promise<HttpReply> {
  const failover = await Failover.begin(gateway, paid.model, paid.operation);
  const reservation = await gateway.accounts.reserve(call.caller, {
    requestId: call.requestId,
    model: paid.model.id,
    ...paid.worstCase(failover.candidates),
  });
  return await new PaidCall(gateway, call, paid, failover, reservation).run();
}

/** @throws {ApiError} `unavailable` once the shutdown has begun */
export function assertAccepting(gateway: Pick<Gateway, "accepting">): void {
  if (gateway.accepting()) return;
  throw new ApiError(
    "unavailable",
    "the gateway is shutting down; try again",
    { retryAfterSeconds: 1 },
  );
}

/**
 * The parts of a call that are needed until its settlement. The request body is left out so that it
 * can be collected while the reply streams.
 */
type CallSummary = Omit<CallRequest, "headers" | "signal">;

/** A call with a reservation; settled exactly once. */
class PaidCall {
  readonly #gateway: Gateway;
  readonly #call: CallSummary;
  readonly #name: string;
  readonly #isStream: boolean;
  readonly #replyCount: number;
  readonly #mostUsage: PaidOperation["mostUsage"];
  readonly #taps: readonly Tap[];
  readonly #client: ClientPresence;
  readonly #signal: AbortSignal;
  readonly #reservation: Reservation;
  readonly #abort = new AbortController();
  readonly #span: CallSpan | undefined;
  readonly #context: AttemptContext;
  readonly #failover: Failover;
  readonly #handle: ActiveCallHandle & { streaming: boolean };
  #removeActive = (): void => {};
  /** The progress of the running stream. */
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

  /** Makes no upstream call; {@linkcode run} does. */
  constructor(
    gateway: Gateway,
    call: CallRequest,
    { name, model, settings, operation, replyCount, mostUsage, taps, hidden }:
      PaidOperation,
    failover: Failover,
    reservation: Reservation,
  ) {
    const { dialect, caller, requestId, path, endpoint } = call;
    const { arrivedMs, facts, slot } = call;
    this.#gateway = gateway;
    this.#name = name;
    this.#call = {
      dialect,
      caller,
      requestId,
      path,
      endpoint,
      arrivedMs,
      facts,
      slot,
    };
    this.#signal = call.signal;
    this.#isStream = operation.isStream;
    this.#replyCount = replyCount;
    this.#mostUsage = mostUsage;
    this.#taps = taps;
    this.#failover = failover;
    this.#reservation = reservation;
    this.#span = gateway.startSpan?.({
      name,
      model: model.id,
      isStream: operation.isStream,
      ...(settings === undefined ? {} : { settings }),
      vendors: gateway.config.catalogue.vendors,
      arrivedMs,
    });
    this.#context = {
      trace: this.#span?.trace ?? traceOf(call.headers),
      signal: this.#abort.signal,
    };
    this.#client = new ClientPresence(gateway, {
      keyId: caller.keyId,
      isStream: operation.isStream,
      failover,
      reservation,
      hidden,
    });
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
      this.#client.leaveEarly(() =>
        this.#abort.abort(new ClientDisconnected())
      );
    if (signal.aborted) onDisconnect();
    signal.addEventListener("abort", onDisconnect);
    this.#removeActive = gateway.activeCalls.add(this.#handle);
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
    let reply: Reply;
    try {
      const attempts = this.#failover.run(
        this.#context,
        gateway.now() + totalMs,
      );
      reply = this.#isStream
        ? await this.#withinPingInterval(attempts) ??
          await this.#defer(attempts)
        : await attempts;
      await this.#awaitReservation(reply);
    } catch (error) {
      const { hasLeft } = this.#client;
      this.#settle(hasLeft ? "caller_left" : "refused", undefined, error);
      if (hasLeft) return clientClosedReply();
      throw error;
    } finally {
      signal.removeEventListener("abort", onDisconnect);
    }
    if (this.#client.hasLeft) return await this.#withoutClient(reply);
    // A deferred stream begins with a ping.
    if (!this.#isDeferred) this.#firstByteMs = gateway.now();
    try {
      return reply.type === "stream"
        ? this.#stream(reply)
        : await this.#whole(reply);
    } catch (error) {
      // The upstream has done its work.
      this.#causedByGateway = true;
      if (reply.type === "stream") reply.source.cancel();
      this.#settle("complete", progressOf(reply), error, false);
      throw error;
    }
  }

  /**
   * The reply if it arrives within the ping interval; otherwise undefined: the client is due a
   * ping.
   */
  async #withinPingInterval(
    attempts: Promise<Reply>,
  ): Promise<Reply | undefined> {
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
   * Starts the stream without a reply: it carries the reply of the running attempt or of a further
   * one, or the error.
   */
  #defer(attempts: Promise<Reply>): Promise<Reply> | StreamedReply {
    const pingRelay = this.#failover.call.pingRelay?.();
    if (pingRelay === undefined) return attempts;
    this.#failover.headSent();
    this.#isDeferred = true;
    attempts.then(() => this.#firstByteMs = this.#gateway.now(), () => {});
    return deferredStream({
      attempts,
      pingRelay,
      abortAttempts: () => this.#abort.abort(new StreamAbandoned()),
    });
  }

  /**
   * Waits until the reservation is durable, before the first byte of the reply. It usually is by
   * then.
   */
  async #awaitReservation(reply: Reply): Promise<void> {
    try {
      this.#limits = await this.#reservation.durable();
    } catch (error) {
      this.#causedByGateway = true;
      if (reply.type === "stream") reply.source.cancel();
      throw error;
    }
  }

  async #whole(read: ReadReply): Promise<HttpReply> {
    this.#failover.recordEnd("complete");
    if (read.reply.progress.generatedChars > 0) {
      this.#firstTokenMs = this.#firstByteMs;
    }
    let tapped = read;
    for (const tap of this.#taps) {
      tapped = await tap.whole(tapped, this.#isStream);
    }
    this.#settle("complete", read.reply.progress);
    return {
      status: 200,
      headers: this.#headers(read.headers, read.reply.progress),
      body: bodyOf(tapped.reply.body),
    };
  }

  #stream(reply: StreamedReply): HttpReply {
    const { body } = this.#pump(reply);
    return { status: 200, headers: this.#headers(reply.headers), body };
  }

  #pump(reply: StreamedReply): Pump {
    let tapped = reply;
    for (const tap of this.#taps) tapped = tap.stream(tapped);
    const { relay, source, first } = tapped;
    if (!this.#isDeferred) this.#client.relayed(relay.progress);
    const streamPump = pump({
      source,
      relay,
      first,
      pingMs: this.#gateway.config.pingMs,
      slowReaderMs: this.#gateway.config.slowReaderMs,
      timers: this.#gateway.timers,
      onToken: () => this.#firstTokenMs = this.#gateway.now(),
      onChunk: () => this.#client.relayed(relay.progress),
      onLeave: () => this.#client.leave(relay.progress()),
      onEnd: (how) => this.#streamEnded(how, relay.progress()),
    });
    this.#fail = streamPump.fail;
    this.#handle.streaming = true;
    this.#progress = { of: () => relay.progress(), pump: streamPump.state };
    return streamPump;
  }

  /** The reply began after its client had left: it is read on, and not sent. */
  async #withoutClient(reply: Reply): Promise<HttpReply> {
    if (reply.type === "stream") {
      await this.#pump(reply).body.cancel();
    } else {
      this.#failover.recordEnd("complete");
      this.#settle("caller_left", reply.reply.progress, undefined, false);
    }
    return clientClosedReply();
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
    const ended = this.#client.hasLeft ? "caller_left" : how;
    if (ended === "complete") this.#failover.recordEnd("complete");
    else if (ended === "failed" && !this.#causedByGateway) {
      this.#failover.recordEnd("failed", progress.error);
    }
    const began = this.#isDeferred || this.#firstByteMs !== undefined;
    this.#settle(ended, progress, progress.error, began);
  }

  /**
   * The request's fields that the upstream does not receive, and the reply's parts that the client
   * does not.
   */
  #dropped(progress: ReplyProgress | undefined): readonly string[] {
    const { dropped } = this.#failover.call.request;
    return progress?.lost === undefined
      ? dropped
      : [...dropped, ...progress.lost.map((kind) => `reply.${kind}`)];
  }

  #headers(
    own: HeaderFields | undefined,
    progress?: ReplyProgress,
  ): HeaderFields {
    return replyHeaders({
      ...(own === undefined ? {} : { own }),
      stream: this.#isStream,
      dialect: this.#call.dialect,
      limits: this.#limits,
      dropped: this.#dropped(progress),
      replay: this.#gateway.config.replay,
      nowMs: this.#gateway.now(),
    });
  }

  /** Runs once per call, however the call ends. */
  #settle(
    ended: CallOutcome["ended"],
    progress?: ReplyProgress,
    error?: unknown,
    began = progress !== undefined,
  ): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#removeActive();
    if (this.#totalTimer !== undefined) {
      this.#gateway.timers.clear(this.#totalTimer);
    }
    const unseen = this.#client.unseen(progress);
    if (progress !== undefined && (unseen?.isWhole ?? ended === "complete")) {
      this.#client.measure(progress);
    }
    this.#client.end();
    const outcome: CallOutcome = {
      usage: progress?.usage ?? {},
      // Only the first of several replies is counted; the others are about as long.
      generatedChars: this.#client.seenChars(progress) * this.#replyCount,
      ...(unseen === undefined ? {} : { unseen }),
      most: this.#mostUsage(
        this.#failover.candidate,
        this.#failover.sentBytes,
      ),
      ended,
      vendor: this.#failover.candidate.vendor,
    };
    const charge = this.#reservation.settle(outcome);
    this.#call.slot.release();
    reportCall(this.#gateway, {
      name: this.#name,
      call: this.#call,
      failover: this.#failover,
      stream: this.#isStream,
      trace: this.#context.trace,
      span: this.#span,
      outcome,
      charge,
      progress,
      dropped: this.#dropped(progress),
      began,
      error,
      causedByGateway: this.#causedByGateway,
      taps: this.#taps,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      nowMs: this.#gateway.now(),
    });
  }
}

function progressOf(reply: Reply): ReplyProgress {
  return reply.type === "stream"
    ? reply.relay.progress()
    : reply.reply.progress;
}

/** The client disconnected before the reply began. */
class ClientDisconnected extends Error {}

/** A deferred stream ended before its upstream replied. */
class StreamAbandoned extends Error {}
