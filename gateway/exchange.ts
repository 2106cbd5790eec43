/**
 * One granted call's life, from the reservation to its settling: attempts at upstreams until one answers or there is no use in
 * another, then the answer's way to the caller.
 *
 * @module
 */
import type { EncodeContext } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import type { UpstreamRequest } from "../translate/relay.ts";
import type { GenerationRequest } from "../translate/request.ts";
import type { Seen } from "../translate/seen.ts";
import type { CallOutcome, Reservation } from "./accounts/accounts.ts";
import { answerHeaders } from "./answer_headers.ts";
import { callEntry, NOBODY_THERE } from "./call_entry.ts";
import type { Gateway } from "./gateway.ts";
import type { GenerationCall } from "./generate.ts";
import { pump, type TimerId } from "./pump.ts";
import { newIdSeed } from "./request_id.ts";
import { type Trace, traceOf } from "./trace.ts";
import { attempt, type AttemptResult } from "./upstream/attempt.ts";
import type { Candidate } from "./upstream/candidates.ts";
import type { Model } from "./upstream/catalogue.ts";
import { choose } from "./upstream/choose.ts";
import { blame } from "./upstream/failure.ts";
import { type Fitting, fitting } from "./upstream/fitting.ts";
import {
  type FailedAttempt,
  mostTelling,
  nextAttempt,
} from "./upstream/retry_policy.ts";
import { versionHeaders } from "./version_headers.ts";

/** A call that was granted. */
export interface GrantedCall {
  /** All that a call is made with. */
  readonly gateway: Gateway;
  /** As it reached the pipeline. */
  readonly call: GenerationCall;
  /** What it means. */
  readonly request: GenerationRequest;
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

/** Shared by all calls that have had no failure, which are nearly all. */
const NONE: readonly FailedAttempt[] = [];

/** A granted call on its way. */
export class Exchange {
  readonly #granted: GrantedCall;
  readonly #gateway: Gateway;
  readonly #call: GenerationCall;
  readonly #encode: EncodeContext;
  readonly #abort = new AbortController();
  readonly #trace: Trace | undefined;
  readonly #running: { streaming: boolean; breakOff(error: ApiError): void };
  #candidate: Candidate;
  #upstream: UpstreamRequest;
  /** Whether the attempt under way decides over its candidate's breaker. */
  #isProbe = false;
  #attempts = 0;
  #failed: readonly FailedAttempt[] = NONE;
  #startedMs = 0;
  /** How a call that is broken off is ended in the phase it is in. */
  #fail = (error: ApiError): void => this.#abort.abort(error);
  /** True where what went wrong did so on our side. */
  #ourFault = false;
  #tooLate = false;
  #firstByteMs: number | undefined;
  #totalTimer: TimerId | undefined;
  #settled = false;

  /** Nothing happens before {@linkcode run}. */
  constructor(granted: GrantedCall) {
    const { gateway, call, request, model, reservation } = granted;
    this.#granted = granted;
    this.#gateway = gateway;
    this.#call = call;
    this.#candidate = granted.first.candidate;
    this.#upstream = granted.first.upstream;
    this.#encode = {
      model: model.id,
      created: Math.floor(call.arrivedMs / 1000),
      idSeed: newIdSeed(),
      wantUsage: request.wantUsage,
      legacyFunctions: request.legacyFunctions === true,
      inputEstimate: granted.inputEstimate,
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

  /**
   * Makes the call; to be called once.
   *
   * @throws {ApiError} what went wrong before the caller was told anything
   */
  async run(): Promise<Response> {
    const callerLeft = (): void => this.#abort.abort(new CallerLeft());
    if (this.#call.signal.aborted) callerLeft();
    this.#call.signal.addEventListener("abort", callerLeft);
    this.#gateway.running.add(this.#running);
    this.#startedMs = this.#gateway.now();
    this.#totalTimer = this.#gateway.timers.set(() => {
      this.#tooLate = true;
      this.#running.breakOff(
        new ApiError(
          "timeout",
          "the answer took longer than the gateway allows",
        ),
      );
    }, this.#totalMs());
    let result: AttemptResult;
    try {
      result = await this.#answer();
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

  #totalMs(): number {
    return this.#granted.model.totalTimeoutMs ??
      this.#gateway.config.totalTimeoutMs;
  }

  /** Attempts until there is an answer. */
  async #answer(): Promise<AttemptResult> {
    this.#gateway.offer.budget(this.#granted.model).deposit();
    this.#reconsider();
    for (;;) {
      const candidate = this.#candidate;
      const result = await this.#attempt();
      if (result.type !== "failed") return result;
      blame(
        candidate.health,
        result.error,
        this.#gateway.now(),
        this.#isProbe,
      );
      this.#failed = [...this.#failed, { ...result, candidate }];
      const waitMs = this.#goOn();
      if (waitMs === undefined) throw this.#mostTelling();
      if (waitMs > 0) {
        await this.#pause(waitMs);
        const { health } = this.#candidate;
        if (health.state(this.#gateway.now()) !== "closed") {
          throw this.#mostTelling();
        }
      }
    }
  }

  /** While the call was being granted, another may have become the one probe of the candidate that was chosen. */
  #reconsider(): void {
    const { gateway, candidates, unfit } = this.#granted;
    const nowMs = gateway.now();
    if (candidates.length === 1 || this.#candidate.health.admits(nowMs)) return;
    const found = this.#fitting(() =>
      choose(candidates, unfit, nowMs, gateway.random)
    );
    if (found !== undefined) this.#turnTo(found);
  }

  #mostTelling(): ApiError {
    const { error, candidate } = mostTelling(this.#failed);
    this.#candidate = candidate;
    return error;
  }

  async #attempt(): ReturnType<typeof attempt> {
    const { health } = this.#candidate;
    this.#isProbe = health.enter(this.#gateway.now());
    this.#attempts++;
    try {
      const result = await attempt({
        client: this.#gateway.client,
        candidate: this.#candidate,
        caller: this.#call.dialect,
        upstream: this.#upstream,
        stream: this.#granted.request.stream,
        encode: this.#encode,
        dialectHeaders: this.#call.dialect.name === "messages"
          ? versionHeaders(this.#call.headers)
          : {},
        trace: this.#trace,
        signal: this.#abort.signal,
        firstFrameMs: this.#gateway.config.pingMs,
      });
      if (result.type !== "failed") health.answered(this.#gateway.now());
      return result;
    } catch (error) {
      // An upstream that lets a call's whole time pass is at fault; a caller that leaves says nothing of it.
      if (this.#tooLate) health.failed(this.#gateway.now());
      else health.left(this.#isProbe);
      throw error;
    }
  }

  /** Turns to the next attempt: how long to wait before it, or undefined where there is to be none. */
  #goOn(): number | undefined {
    const { gateway, model, candidates, unfit } = this.#granted;
    const nowMs = gateway.now();
    let waitMs = 0;
    const found = this.#fitting(() => {
      const next = nextAttempt({
        candidates,
        unfit,
        failed: this.#failed,
        maxAttempts: gateway.config.maxAttempts,
        nowMs,
        deadlineMs: this.#startedMs + this.#totalMs(),
        random: gateway.random,
      });
      waitMs = next?.waitMs ?? 0;
      return next?.candidate;
    });
    if (found === undefined || !gateway.offer.budget(model).withdraw(nowMs)) {
      return undefined;
    }
    this.#turnTo(found);
    return waitMs;
  }

  /** The next candidate that can be told the request: it is not wrong because some cannot. */
  #fitting(next: () => Candidate | undefined): Fitting | undefined {
    const { call, request, unfit, isStrict } = this.#granted;
    try {
      return fitting(
        { dialect: call.dialect, bytes: call.bytes, body: call.body, request },
        isStrict,
        unfit,
        next,
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return undefined;
    }
  }

  #turnTo({ candidate, upstream }: Fitting): void {
    this.#candidate = candidate;
    this.#upstream = upstream;
  }

  /** Waits, unless the call is ended meanwhile. */
  #pause(ms: number): Promise<void> {
    const { timers } = this.#gateway;
    const { signal } = this.#abort;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const ended = (): void => {
        timers.clear(timer);
        reject(signal.reason);
      };
      const timer = timers.set(() => {
        signal.removeEventListener("abort", ended);
        resolve();
      }, ms);
      signal.addEventListener("abort", ended, { once: true });
    });
  }

  /** No byte of the answer before the reservation is in the books; mostly it has been there for long. */
  async #written(result: AttemptResult): Promise<void> {
    try {
      await this.#granted.reservation.written;
    } catch (error) {
      this.#ourFault = true;
      if (result.type === "stream") result.source.cancel();
      throw error;
    }
  }

  #whole(result: AttemptResult & { type: "whole" }): Response {
    this.#candidate.health.succeeded(this.#gateway.now());
    this.#settle("complete", result.reply.seen);
    return new Response(bodyOf(result.reply.body), {
      headers: this.#headers(),
    });
  }

  #stream(result: AttemptResult & { type: "stream" }): Response {
    const { relay, source, first } = result;
    const running = pump({
      source,
      relay,
      first,
      pingMs: this.#gateway.config.pingMs,
      timers: this.#gateway.timers,
      onEnd: (how) => this.#streamEnded(how, relay.seen()),
    });
    this.#fail = running.fail;
    this.#running.streaming = true;
    return new Response(running.body, { headers: this.#headers() });
  }

  #streamEnded(how: "complete" | "failed" | "caller_left", seen: Seen): void {
    // Who left before the first byte made the upstream's stream fail.
    const ended = this.#abort.signal.reason instanceof CallerLeft
      ? "caller_left"
      : how;
    const { health } = this.#candidate;
    if (ended === "complete") health.succeeded(this.#gateway.now());
    else if (
      ended === "failed" && !this.#ourFault && seen.error !== undefined
    ) {
      blame(health, seen.error, this.#gateway.now(), false);
    }
    this.#settle(ended, seen, seen.error);
  }

  #headers(): Headers {
    return answerHeaders({
      stream: this.#granted.request.stream,
      dialect: this.#call.dialect.name,
      limits: this.#granted.reservation.limits,
      losses: this.#upstream.losses,
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
    this.#granted.reservation.settle(outcome);
    this.#call.slot.release();
    if (error instanceof Error) this.#gateway.logged.add(error);
    this.#gateway.log(callEntry({
      call: this.#call,
      model: this.#granted.model,
      upstream: this.#candidate.name,
      attempts: this.#attempts,
      failed: this.#failed,
      stream: this.#granted.request.stream,
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

/** The caller went away before it had a reply. */
class CallerLeft extends Error {}

/** Bytes as a body. The cast narrows the buffer's kind only: these bytes are never shared. */
function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? bytes as Uint8Array<ArrayBuffer>
    : new Uint8Array(bytes);
}
