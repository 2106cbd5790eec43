/**
 * The only code that decides where a call goes next: chooses the first candidate before the
 * reservation, makes the attempts, and after each failure chooses another candidate or gives up.
 * Records each outcome in the candidate's circuit breaker.
 *
 * @module
 */
import { ApiError } from "../../translate/model/error.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import type {
  ClientRequest,
  UpstreamRequest,
} from "../../translate/upstream_request.ts";
import type { Gateway } from "../gateway.ts";
import type { TimerId } from "../timers.ts";
import {
  attempt,
  type AttemptContext,
  type AttemptResult,
} from "../upstream/attempt.ts";
import type { CallTimes } from "../upstream/call_times.ts";
import type { Model } from "../upstream/catalogue.ts";
import type { ToolReasoning } from "../upstream/models.ts";
import { recordFailure } from "../upstream/failure.ts";
import { chooseCandidate } from "../upstream/load_balancer.ts";
import type { Candidate, ModelRegistry } from "../upstream/model_registry.ts";
import {
  type PreparedRequest,
  prepareRequest,
  withoutProofs,
} from "../upstream/prepare_request.ts";
import {
  type FailedAttempt,
  mostInformative,
  nextAttempt,
} from "../upstream/retry_policy.ts";

const NOTHING = new Uint8Array(0);

/** Shared by all calls without a failed attempt. */
const NO_FAILURES: readonly FailedAttempt[] = [];

/** The candidates and attempts of one call. */
export class Failover {
  /** The requested model; its price is the call's, whichever candidate replies. */
  readonly model: Model;
  /** Candidates of the model, by ascending priority. */
  readonly candidates: readonly Candidate[];
  readonly #gateway: Gateway;
  /** Those of the call's beginning: a changed configuration is for later calls. */
  readonly #models: ModelRegistry;
  readonly #isStrict: boolean;
  /** Candidates whose format cannot express the request. */
  readonly #incompatible: Candidate[] = [];
  /** Absent once a candidate has replied: no further attempt needs it, and it may be large. */
  #client: ClientRequest | undefined;
  #current: PreparedRequest;
  /** Whether the running attempt is the probe of a half-open breaker. */
  #isProbe = false;
  readonly #calls: CallTimes[] = [];
  #failedAttempts: readonly FailedAttempt[] = NO_FAILURES;
  #retriesStopped = false;
  #replied = false;
  #deadlinePassed = false;
  /** Whether the candidate was called again without signatures; that happens once. */
  #triedWithoutProofs = false;

  /**
   * Chooses the first candidate and writes the request for it.
   *
   * @throws {ApiError} `invalid_request` where no candidate's format can express the request
   */
  constructor(
    gateway: Gateway,
    model: Model,
    client: ClientRequest,
    isStrict: boolean,
  ) {
    this.#gateway = gateway;
    this.model = model;
    this.#models = gateway.models;
    this.candidates = this.#models.candidates(
      model,
      client.dialect.name,
      toolReasoning(client.request),
    );
    this.#client = client;
    this.#isStrict = isStrict;
    this.#current = this.#firstChoice(client);
  }

  /**
   * The running attempt's candidate; at the end the one that replied, or whose error the client
   * received.
   */
  get candidate(): Candidate {
    return this.#current.candidate;
  }

  /** The request as sent to {@linkcode Failover.candidate}. */
  get upstream(): UpstreamRequest {
    return this.#current.upstream;
  }

  /** Number of attempts begun. */
  get attemptCount(): number {
    return this.#calls.length;
  }

  /** The times and outcomes of all attempts begun, in order. */
  get calls(): readonly CallTimes[] {
    return this.#calls;
  }

  /** Attempts that failed before a reply began, in order. */
  get failedAttempts(): readonly FailedAttempt[] {
    return this.#failedAttempts;
  }

  /** Begins no further attempt: the client has received a part of the reply. */
  stopRetrying(): void {
    this.#retriesStopped = true;
  }

  /**
   * The call's deadline has passed. Counts as a failure of a candidate that has not replied yet.
   */
  deadlineReached(): void {
    this.#deadlinePassed = true;
  }

  /**
   * Makes attempts until one has a reply. Call it once.
   *
   * @throws {ApiError} the most informative failure if there is no reply; the signal's reason if it
   * was aborted
   */
  async run(
    context: AttemptContext,
    deadlineMs: number,
  ): Promise<AttemptResult> {
    this.#models.budget(this.model).deposit();
    this.#chooseAgain();
    for (;;) {
      const { candidate } = this.#current;
      const result = await this.#attempt(context);
      const nowMs = this.#gateway.now();
      if (result.type !== "failed") {
        this.#replied = true;
        const call = this.#calls.at(-1);
        if (call !== undefined) {
          call.firstByteMs = nowMs;
          call.hadKey = result.type === "whole" && result.hadKey;
        }
        this.#client = undefined;
        const upstream = { ...this.#current.upstream, bytes: NOTHING };
        this.#current = { candidate, upstream };
        candidate.health.replyStarted(nowMs);
        return result;
      }
      const call = this.#calls.at(-1);
      if (call !== undefined) {
        call.endedMs = nowMs;
        call.error = result.error;
      }
      recordFailure(candidate.health, result.error, nowMs, this.#isProbe);
      this.#failedAttempts = [...this.#failedAttempts, {
        ...result,
        candidate,
      }];
      if (this.#dropProofs(result.error)) continue;
      const waitMs = this.#next(nowMs, deadlineMs);
      if (waitMs === undefined) throw this.#mostInformative();
      if (waitMs > 0) await this.#pause(waitMs, context.signal);
    }
  }

  /** Records how the reply ended; `error` is the upstream's error inside a stream. */
  recordEnd(how: "complete" | "failed", error?: ApiError): void {
    const { health } = this.candidate;
    const nowMs = this.#gateway.now();
    if (how === "complete") health.succeeded(nowMs);
    else if (error !== undefined && this.#replied) {
      recordFailure(health, error, nowMs, false);
    }
  }

  /** Whether the same candidate is called again at once, without the reasoning signatures that it refused. */
  #dropProofs(error: ApiError): boolean {
    const client = this.#client;
    if (
      this.#triedWithoutProofs || this.#retriesStopped || client === undefined
    ) return false;
    const { candidate } = this.#current;
    const upstream = withoutProofs(client, this.#isStrict, candidate, error);
    if (upstream === undefined) return false;
    this.#triedWithoutProofs = true;
    this.#current = { candidate, upstream };
    return true;
  }

  async #attempt(context: AttemptContext): ReturnType<typeof attempt> {
    const client = this.#client;
    if (client === undefined) throw new Error("the call already has a reply");
    const { candidate, upstream } = this.#current;
    const startedMs = this.#gateway.now();
    this.#isProbe = candidate.health.startCall(startedMs);
    this.#calls.push({
      candidate,
      startedMs,
      firstByteMs: undefined,
      endedMs: undefined,
      error: undefined,
      hadKey: false,
    });
    try {
      return await attempt({
        ...context,
        client: this.#gateway.client,
        timers: this.#gateway.timers,
        firstFrameMs: this.#gateway.config.firstByteTimeoutMs,
        candidate,
        clientDialect: client.dialect,
        upstream,
        stream: client.request.stream,
      });
    } catch (error) {
      // A client that disconnects is not a failure of the upstream.
      if (this.#deadlinePassed) candidate.health.failed(this.#gateway.now());
      else candidate.health.endedWithoutResult(this.#isProbe);
      throw error;
    }
  }

  #firstChoice(client: ClientRequest): PreparedRequest {
    const { now, random } = this.#gateway;
    const choice = this.#firstCompatible(
      client,
      () => chooseCandidate(this.candidates, this.#incompatible, now(), random),
    );
    if (choice === undefined) {
      throw new Error(
        `model ${this.model.id} is registered without a candidate`,
      );
    }
    return choice;
  }

  /**
   * During the reservation, another call may have taken the only probe of the chosen candidate's
   * breaker.
   */
  #chooseAgain(): void {
    const { now, random } = this.#gateway;
    const nowMs = now();
    if (
      this.candidates.length === 1 || this.candidate.health.admits(nowMs)
    ) return;
    this.#current =
      this.#compatibleOrNone(() =>
        chooseCandidate(this.candidates, this.#incompatible, nowMs, random)
      ) ?? this.#current;
  }

  /**
   * Chooses the next attempt. Returns the wait before it in milliseconds, or undefined if there is
   * none.
   */
  #next(nowMs: number, deadlineMs: number): number | undefined {
    if (this.#retriesStopped) return undefined;
    const { config, random } = this.#gateway;
    let waitMs = 0;
    const choice = this.#compatibleOrNone(() => {
      const next = nextAttempt({
        candidates: this.candidates,
        incompatible: this.#incompatible,
        failed: this.#failedAttempts,
        maxAttempts: config.maxAttempts,
        nowMs,
        deadlineMs,
        random,
      });
      waitMs = next?.waitMs ?? 0;
      return next?.candidate;
    });
    if (
      choice === undefined || !this.#models.budget(this.model).withdraw(nowMs)
    ) return undefined;
    this.#current = choice;
    return waitMs;
  }

  #compatibleOrNone(
    next: () => Candidate | undefined,
  ): PreparedRequest | undefined {
    if (this.#client === undefined) return undefined;
    try {
      return this.#firstCompatible(this.#client, next);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return undefined;
    }
  }

  /**
   * The first candidate from `next` whose format can express the request. Records the others as
   * incompatible.
   *
   * @throws {ApiError} the first candidate's refusal, if none is compatible
   */
  #firstCompatible(
    client: ClientRequest,
    next: () => Candidate | undefined,
  ): PreparedRequest | undefined {
    let refusal: ApiError | undefined;
    for (;;) {
      const candidate = next();
      if (candidate === undefined) {
        if (refusal === undefined) return undefined;
        throw refusal;
      }
      try {
        return prepareRequest(client, candidate, this.#isStrict);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refusal ??= error;
        this.#incompatible.push(candidate);
      }
    }
  }

  /** Waits before a further attempt. Throws if the attempt has become pointless by then. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { timers, now } = this.#gateway;
    await new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let timer: TimerId | undefined = undefined;
      const aborted = (): void => {
        if (timer !== undefined) timers.clear(timer);
        reject(signal.reason);
      };
      timer = timers.set(() => {
        signal.removeEventListener("abort", aborted);
        resolve();
      }, ms);
      signal.addEventListener("abort", aborted, { once: true });
    });
    // Meanwhile the client may have received bytes, or other calls may have opened the candidate's
    // breaker.
    if (
      this.#retriesStopped || this.candidate.health.state(now()) !== "closed"
    ) {
      throw this.#mostInformative();
    }
  }

  #mostInformative(): ApiError {
    const { error, candidate } = mostInformative(this.#failedAttempts);
    this.#current = { ...this.#current, candidate };
    return error;
  }
}

/** Whether the request combines tools and reasoning, and how; some models accept both in one format only. */
function toolReasoning(request: GenerationRequest): ToolReasoning | undefined {
  const { tools, reasoning } = request;
  if (tools === undefined || tools.length === 0) return undefined;
  if (reasoning === undefined) return "left to the model";
  return reasoning.mode === "off" ? undefined : "asked";
}
