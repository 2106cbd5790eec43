/**
 * The only code that decides where a call goes next: chooses the first candidate before the
 * reservation, makes the attempts, and after each failure chooses another candidate or gives up.
 * Records each outcome in the candidate's circuit breaker.
 */
import { ApiError } from "../../translate/model/error.ts";
import type { Gateway } from "../gateway.ts";
import type { TimerId } from "../timers.ts";
import { attempt, type AttemptContext } from "../upstream/attempt.ts";
import type { CallTimes } from "../upstream/call_times.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import { recordFailure } from "../upstream/health/failure.ts";
import { chooseCandidate } from "../upstream/health/load_balancer.ts";
import type {
  Candidate,
  ModelRegistry,
} from "../upstream/catalogue/model_registry.ts";
import type { Operation, PreparedCall, Reply } from "../upstream/operation.ts";
import { firstCompatible } from "./first_compatible.ts";
import {
  type FailedAttempt,
  mostInformative,
  type NextAttempt,
  nextAttempt,
} from "../upstream/health/retry_policy.ts";

const NOTHING = new Uint8Array(0);
const NO_KEY = (): boolean => false;

/** Shared by all calls without a failed attempt. */
const NO_FAILURES: readonly FailedAttempt[] = [];

/** The parts of the gateway that choosing and calling need. */
type FailoverParts = Pick<
  Gateway,
  "models" | "config" | "client" | "timers" | "now" | "random"
>;

/** The candidates and attempts of one call. */
export class Failover {
  /** The requested model; its price is the call's, whichever candidate replies. */
  readonly model: Model;
  /** Candidates of the model, by ascending priority. */
  readonly candidates: readonly Candidate[];
  readonly #gateway: FailoverParts;
  /** The models at the call's beginning: a changed configuration applies to later calls. */
  readonly #models: ModelRegistry;
  readonly #isStream: boolean;
  /** Candidates whose format cannot express the request. */
  readonly #incompatible: Candidate[];
  /** Absent once a candidate has replied: no further attempt needs it, and it may be large. */
  #operation: Operation<Reply> | undefined;
  #current: PreparedCall<Reply>;
  #sentBytes = 0;
  /** Whether the running attempt is the probe of a half-open breaker. */
  #isProbe = false;
  readonly #calls: CallTimes[] = [];
  #failedAttempts: readonly FailedAttempt[] = NO_FAILURES;
  #refusedKeys: readonly Pick<FailedAttempt, "candidate" | "error">[] =
    NO_FAILURES;
  /** Fields that the head of the reply names as dropped; absent until the client receives it. */
  #named: ReadonlySet<string> | undefined;
  #replied = false;
  #deadlinePassed = false;
  #clientLeft = false;
  /** Whether a candidate was called again without the part that it refused; that happens once. */
  #triedWithoutPart = false;

  /**
   * Chooses the first candidate and writes the request for it.
   *
   * @throws {ApiError} `invalid_request` where no candidate's format can express the request
   */
  static async begin(
    gateway: FailoverParts,
    model: Model,
    operation: Operation<Reply>,
  ): Promise<Failover> {
    const { models, now, random } = gateway;
    const candidates = operation.candidates(models, model);
    const incompatible: Candidate[] = [];
    const first = await firstCompatible(
      operation,
      () => chooseCandidate(candidates, incompatible, now(), random),
      incompatible,
    );
    if (first === undefined) {
      throw new Error(`model ${model.id} is registered without a candidate`);
    }
    return new Failover(gateway, model, operation, {
      models,
      candidates,
      incompatible,
      first,
    });
  }

  private constructor(
    gateway: FailoverParts,
    model: Model,
    operation: Operation<Reply>,
    { models, candidates, incompatible, first }: {
      readonly models: ModelRegistry;
      readonly candidates: readonly Candidate[];
      readonly incompatible: Candidate[];
      readonly first: PreparedCall<Reply>;
    },
  ) {
    this.#gateway = gateway;
    this.model = model;
    this.#models = models;
    this.#isStream = operation.isStream;
    this.candidates = candidates;
    this.#incompatible = incompatible;
    this.#operation = operation;
    this.#current = first;
  }

  /**
   * The running attempt's candidate; at the end the one that replied, or whose error the client
   * received.
   */
  get candidate(): Candidate {
    return this.#current.candidate;
  }

  /**
   * The call as written for {@linkcode Failover.candidate}; without its bytes once it has replied.
   */
  get call(): PreparedCall<Reply> {
    return this.#current;
  }

  /** Length of the body for the last candidate that was called; 0 before. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

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

  /** Refusals after which another key of the same list was used, in order. */
  get refusedKeys(): readonly Pick<FailedAttempt, "candidate" | "error">[] {
    return this.#refusedKeys;
  }

  /**
   * The client receives the head of the reply before there is one: further attempts must fit it, so
   * they drop no field that it does not name.
   */
  headSent(): void {
    this.#named = new Set(this.#current.request.dropped);
  }

  /**
   * When the upstream received the request that it has not refused, in Unix milliseconds; undefined
   * where there is none.
   */
  get sentMs(): number | undefined {
    const last = this.#calls.at(-1);
    return last?.error === undefined ? last?.sentMs : undefined;
  }

  /** The client has left: no further attempt is made. */
  clientLeft(): void {
    this.#clientLeft = true;
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
  ): Promise<Reply> {
    this.#models.budget(this.model).deposit();
    if (
      this.candidates.length > 1 &&
      !this.candidate.health.admits(this.#gateway.now())
    ) await this.#chooseAgain();
    for (;;) {
      const { candidate } = this.#current;
      const ended = await this.#attempt(context);
      const nowMs = this.#gateway.now();
      if (ended.type === "replied") {
        const { result } = ended;
        this.#replied = true;
        const call = this.#calls.at(-1);
        if (call !== undefined) {
          call.firstByteMs = nowMs;
          call.hadKey = result.hadKey ?? NO_KEY;
        }
        this.#operation = undefined;
        const { headers, dropped } = this.#current.request;
        const request = { headers, dropped, bytes: NOTHING };
        this.#current = { ...this.#current, request };
        candidate.health.replyStarted(nowMs);
        return result;
      }
      const call = this.#calls.at(-1);
      if (call !== undefined) {
        call.endedMs = nowMs;
        call.error = ended.error;
      }
      recordFailure(candidate.health, ended.error, nowMs, this.#isProbe);
      this.#failedAttempts = [...this.#failedAttempts, { ...ended, candidate }];
      if (this.#clientLeft) throw ended.error;
      if (await this.#prepareAgain(ended.error)) continue;
      const waitMs = await this.#next(nowMs, deadlineMs);
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

  /** Whether the same candidate is called again at once, without the part that it refused. */
  async #prepareAgain(refusal: ApiError): Promise<boolean> {
    if (this.#triedWithoutPart) return false;
    const { candidate } = this.#current;
    const call = await this.#operation?.prepareAgain?.(candidate, refusal);
    if (call === undefined || !this.#fitsHead(call)) return false;
    this.#triedWithoutPart = true;
    this.#current = call;
    return true;
  }

  async #attempt(
    context: AttemptContext,
  ): ReturnType<typeof attempt<Reply>> {
    if (this.#replied) throw new Error("the call already has a reply");
    const { candidate, request } = this.#current;
    this.#sentBytes = request.bytes.length;
    const startedMs = this.#gateway.now();
    this.#isProbe = candidate.health.startCall(startedMs);
    const times: CallTimes = {
      candidate,
      startedMs,
      sentMs: undefined,
      firstByteMs: undefined,
      endedMs: undefined,
      error: undefined,
      hadKey: NO_KEY,
    };
    this.#calls.push(times);
    try {
      return await attempt({
        ...context,
        client: this.#gateway.client,
        call: this.#current,
        isStream: this.#isStream,
        onSent: () => times.sentMs = this.#gateway.now(),
        onRefused: () => times.sentMs = undefined,
        onKeyRefused: (error) =>
          this.#refusedKeys = [...this.#refusedKeys, { candidate, error }],
      });
    } catch (error) {
      // A client that disconnects is not a failure of the upstream.
      if (this.#deadlinePassed) candidate.health.failed(this.#gateway.now());
      else candidate.health.endedWithoutResult(this.#isProbe);
      throw error;
    }
  }

  /**
   * During the reservation, another call may have taken the only probe of the chosen candidate's
   * breaker.
   */
  async #chooseAgain(): Promise<void> {
    const { now, random } = this.#gateway;
    const nowMs = now();
    this.#current =
      await this.#compatibleOrNone(() =>
        chooseCandidate(this.candidates, this.#incompatible, nowMs, random)
      ) ?? this.#current;
  }

  /**
   * Chooses the next attempt. Returns the wait before it in milliseconds, or undefined if there is
   * none.
   */
  async #next(
    nowMs: number,
    deadlineMs: number,
  ): Promise<number | undefined> {
    const { config, random } = this.#gateway;
    let next: NextAttempt | undefined;
    const choice = await this.#compatibleOrNone(() => {
      next = nextAttempt({
        candidates: this.candidates,
        incompatible: this.#incompatible,
        failed: this.#failedAttempts,
        maxAttempts: config.maxAttempts,
        nowMs,
        deadlineMs,
        random,
      });
      return next?.candidate;
    });
    if (choice === undefined || next === undefined) return undefined;
    if (
      next.isLimited && !this.#models.budget(this.model).withdraw(nowMs)
    ) return undefined;
    this.#current = choice;
    return next.waitMs;
  }

  async #compatibleOrNone(
    next: () => Candidate | undefined,
  ): Promise<PreparedCall<Reply> | undefined> {
    if (this.#operation === undefined) return undefined;
    try {
      return await firstCompatible(
        this.#operation,
        next,
        this.#incompatible,
        (call) => this.#fitsHead(call),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return undefined;
    }
  }

  #fitsHead({ request: { dropped } }: PreparedCall<Reply>): boolean {
    const named = this.#named;
    return named === undefined || dropped.every((field) => named.has(field));
  }

  /** Waits before a further attempt. Throws if the attempt has become pointless by then. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { timers, now } = this.#gateway;
    await new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let timer: TimerId | undefined = undefined;
      const onAbort = (): void => {
        if (timer !== undefined) timers.clear(timer);
        reject(signal.reason);
      };
      timer = timers.set(() => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    // Meanwhile other calls may have opened the candidate's breaker.
    if (this.candidate.health.state(now()) !== "closed") {
      throw this.#mostInformative();
    }
  }

  #mostInformative(): ApiError {
    const { error, candidate } = mostInformative(this.#failedAttempts);
    this.#current = { ...this.#current, candidate };
    return error;
  }
}
