/**
 * One granted call's life, from the reservation to its settling: the attempts at upstreams, then the answer's way to the caller.
 *
 * @module
 */
import type { EncodeContext } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import { type CallerRequest, streamRelay } from "../translate/relay.ts";
import type { Seen } from "../translate/seen.ts";
import type { CallOutcome, Reservation } from "./accounts/accounts.ts";
import type { Answer, HeaderFields } from "./answer.ts";
import { answerHeaders } from "./answer_headers.ts";
import { Attempts } from "./attempts.ts";
import { callEntry, nobodyThere } from "./call_entry.ts";
import type { CallSpan } from "./call_span.ts";
import type { Gateway } from "./gateway.ts";
import type { GenerationCall } from "./generate.ts";
import { lateAnswer } from "./late_answer.ts";
import { pump } from "./pump.ts";
import { newIdSeed } from "./request_id.ts";
import type { TimerId } from "./timers.ts";
import { type Trace, traceOf } from "./trace.ts";
import type { AttemptResult } from "./upstream/attempt.ts";
import type { Candidate } from "./upstream/candidates.ts";
import type { Model } from "./upstream/catalogue.ts";
import type { Fitting } from "./upstream/fitting.ts";
import { versionHeaders } from "./version_headers.ts";

/** A call that was granted. */
export interface GrantedCall {
  /** All that a call is made with. */
  readonly gateway: Gateway;
  /** As it reached the pipeline. */
  readonly call: GenerationCall;
  /** What it says, and means. */
  readonly caller: CallerRequest;
  /** What is called, and at which price. */
  readonly model: Model;
  /** Where it can be called. */
  readonly candidates: readonly Candidate[];
  /** Those of them that were found unable to be told the request; grows. */
  readonly unfit: Candidate[];
  /** Whether the caller would rather have an error than a loss. */
  readonly isStrict: boolean;
  /** The first attempt. */
  readonly first: Fitting;
  /** To be settled. */
  readonly reservation: Reservation;
  /** The prompt's tokens, estimated. */
  readonly inputEstimate: number;
}

/** What of a call is needed to its end. Its body is not: a long conversation must not stay in memory while its answer streams. */
type Settling = Pick<
  GenerationCall,
  "dialect" | "caller" | "requestId" | "path" | "arrivedMs" | "slot"
>;

/** A granted call on its way. */
export class Exchange {
  readonly #gateway: Gateway;
  readonly #call: Settling;
  readonly #isStream: boolean;
  readonly #signal: AbortSignal;
  readonly #model: Model;
  readonly #reservation: Reservation;
  readonly #encode: EncodeContext;
  readonly #abort = new AbortController();
  readonly #span: CallSpan | undefined;
  readonly #trace: Trace | undefined;
  readonly #attempts: Attempts;
  readonly #running: { streaming: boolean; breakOff(error: ApiError): void };
  /** How a call that is broken off is ended in the phase it is in. */
  #fail = (error: ApiError): void => this.#abort.abort(error);
  /** True where what went wrong did so on our side. */
  #ourFault = false;
  #firstByteMs: number | undefined;
  #totalTimer: TimerId | undefined;
  #settled = false;

  /** Nothing happens before {@linkcode run}. */
  constructor(granted: GrantedCall) {
    const { gateway, call, model, reservation } = granted;
    const { request } = granted.caller;
    this.#gateway = gateway;
    const { dialect, caller, requestId, path, arrivedMs, slot } = call;
    this.#call = { dialect, caller, requestId, path, arrivedMs, slot };
    this.#signal = call.signal;
    this.#isStream = request.stream;
    this.#model = model;
    this.#reservation = reservation;
    this.#encode = {
      model: model.id,
      created: Math.floor(call.arrivedMs / 1000),
      idSeed: newIdSeed(),
      wantUsage: request.wantUsage,
      legacyFunctions: request.legacyFunctions === true,
      inputEstimate: granted.inputEstimate,
    };
    this.#span = gateway.startSpan?.({
      model: model.id,
      arrivedMs: call.arrivedMs,
    });
    this.#trace = this.#span?.trace ?? traceOf(call.headers);
    this.#attempts = new Attempts({
      gateway,
      model,
      candidates: granted.candidates,
      unfit: granted.unfit,
      caller: granted.caller,
      isStrict: granted.isStrict,
      first: granted.first,
      encode: this.#encode,
      dialectHeaders: call.dialect.name === "messages"
        ? versionHeaders(call.headers)
        : {},
      trace: this.#trace,
      signal: this.#abort.signal,
    });
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

  /**
   * Makes the call; to be called once.
   *
   * @throws {ApiError} what went wrong before the caller was told anything
   */
  async run(): Promise<Answer> {
    const gateway = this.#gateway;
    const signal = this.#signal;
    const callerLeft = (): void => this.#abort.abort(new CallerLeft());
    if (signal.aborted) callerLeft();
    signal.addEventListener("abort", callerLeft);
    gateway.running.add(this.#running);
    const totalMs = this.#model.totalTimeoutMs ?? gateway.config.totalTimeoutMs;
    this.#totalTimer = gateway.timers.set(() => {
      this.#attempts.timeIsUp();
      this.#running.breakOff(
        new ApiError(
          "timeout",
          "the answer took longer than the gateway allows",
        ),
      );
    }, totalMs);
    let result: AttemptResult;
    try {
      const answer = this.#attempts.answer(gateway.now() + totalMs);
      result = this.#isStream
        ? await this.#inTime(answer) ?? this.#late(answer)
        : await answer;
      await this.#written(result);
    } catch (error) {
      const ended = error instanceof CallerLeft ? "caller_left" : "refused";
      this.#settle(ended, undefined, error);
      if (error instanceof CallerLeft) {
        return nobodyThere();
      }
      throw error;
    } finally {
      signal.removeEventListener("abort", callerLeft);
    }
    this.#firstByteMs = gateway.now();
    return result.type === "stream"
      ? this.#stream(result)
      : this.#whole(result);
  }

  /** The answer, if it comes before a caller that waits for a stream should get a sign of life. */
  async #inTime(
    answer: Promise<AttemptResult>,
  ): Promise<AttemptResult | undefined> {
    const { timers, config } = this.#gateway;
    const enough = Promise.withResolvers<undefined>();
    const timer = timers.set(() => enough.resolve(undefined), config.pingMs);
    try {
      return await Promise.race([answer, enough.promise]);
    } finally {
      timers.clear(timer);
    }
  }

  /** From now on there is one answer or an error in the stream: another attempt would come after the first byte. */
  #late(answer: Promise<AttemptResult>): AttemptResult & { type: "stream" } {
    this.#attempts.noMore();
    const { candidate, upstream } = this.#attempts;
    return lateAnswer({
      answer,
      waiting: streamRelay(
        this.#call.dialect,
        candidate.dialect,
        upstream.context,
        this.#encode,
      ),
      giveUp: () => this.#abort.abort(new GivenUp()),
    });
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

  #whole(result: AttemptResult & { type: "whole" }): Answer {
    this.#attempts.ended("complete");
    this.#settle("complete", result.reply.seen);
    return {
      status: 200,
      headers: this.#headers(),
      body: bodyOf(result.reply.body),
    };
  }

  #stream(result: AttemptResult & { type: "stream" }): Answer {
    const { relay, source, first } = result;
    const running = pump({
      source,
      relay,
      first,
      pingMs: this.#gateway.config.pingMs,
      slowReaderMs: this.#gateway.config.slowReaderMs,
      timers: this.#gateway.timers,
      onEnd: (how) => this.#streamEnded(how, relay.seen()),
    });
    this.#fail = running.fail;
    this.#running.streaming = true;
    return { status: 200, headers: this.#headers(), body: running.body };
  }

  #streamEnded(how: "complete" | "failed" | "caller_left", seen: Seen): void {
    // Who left before the first byte made the upstream's stream fail.
    const ended = this.#abort.signal.reason instanceof CallerLeft
      ? "caller_left"
      : how;
    if (ended === "complete") this.#attempts.ended("complete");
    else if (ended === "failed" && !this.#ourFault) {
      this.#attempts.ended("failed", seen.error);
    }
    this.#settle(ended, seen, seen.error);
  }

  #headers(): HeaderFields {
    return answerHeaders({
      stream: this.#isStream,
      dialect: this.#call.dialect.name,
      limits: this.#reservation.limits,
      losses: this.#attempts.upstream.losses,
      replay: this.#gateway.config.replay,
      nowMs: this.#gateway.now(),
    });
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
    const entry = callEntry({
      call: this.#call,
      model: this.#model,
      attempts: this.#attempts,
      stream: this.#isStream,
      inputTokens: this.#encode.inputEstimate,
      trace: this.#trace,
      outcome,
      began: seen !== undefined,
      error,
      ourFault: this.#ourFault,
      firstByteMs: this.#firstByteMs,
      nowMs: this.#gateway.now(),
    });
    this.#gateway.log(entry);
    this.#span?.end(entry);
  }
}

/** The caller went away before it had a reply. */
class CallerLeft extends Error {}

/** A stream is over before its upstream answered. */
class GivenUp extends Error {}

/** Bytes as a body. The cast narrows the buffer's kind only: these bytes are never shared. */
function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? bytes as Uint8Array<ArrayBuffer>
    : new Uint8Array(bytes);
}
