/**
 * The attempts of one granted call: one candidate after the other until one answers or there is no use in another. What each
 * came to is told to the candidate's health here, and nowhere else.
 *
 * @module
 */
import type { EncodeContext } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import type { CallerRequest, UpstreamRequest } from "../translate/relay.ts";
import type { Gateway } from "./gateway.ts";
import type { TimerId } from "./timers.ts";
import type { Trace } from "./trace.ts";
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

/** What all attempts of a call have in common. */
export interface AttemptsOptions {
  /** All that a call is made with. */
  readonly gateway: Gateway;
  /** What is called. */
  readonly model: Model;
  /** Where it can be called. */
  readonly candidates: readonly Candidate[];
  /** Those of them that were found unable to be told the request; grows. */
  readonly unfit: Candidate[];
  /** As it came: every attempt's request is written from it. */
  readonly caller: CallerRequest;
  /** Whether the caller would rather have an error than a loss. */
  readonly isStrict: boolean;
  /** The first attempt. */
  readonly first: Fitting;
  /** What the reply's encoder must know of the caller. */
  readonly encode: EncodeContext;
  /** The caller's headers of its dialect, for pass-through. */
  readonly dialectHeaders: Readonly<Record<string, string>>;
  /** The trace that the caller told, to be passed on. */
  readonly trace: Trace | undefined;
  /** Ends the attempt under way, and any pause; its reason is what is thrown. */
  readonly signal: AbortSignal;
}

const NOTHING = new Uint8Array(0);

/** Shared by all calls that have had no failure, which are nearly all. */
const NONE: readonly FailedAttempt[] = [];

/** The attempts of a call. */
export class Attempts {
  readonly #options: Omit<AttemptsOptions, "caller" | "first">;
  /** Until there is an answer: then no further attempt needs it, and it may be large. */
  #caller: CallerRequest | undefined;
  readonly #gateway: Gateway;
  #candidate: Candidate;
  #upstream: UpstreamRequest;
  /** Whether the attempt under way decides over its candidate's breaker. */
  #isProbe = false;
  #begun = 0;
  #failed: readonly FailedAttempt[] = NONE;
  #isLast = false;
  #answered = false;
  #timeIsUp = false;

  /** Nothing happens before {@linkcode answer}. */
  constructor(options: AttemptsOptions) {
    const { caller, first, ...others } = options;
    this.#options = others;
    this.#caller = caller;
    this.#gateway = options.gateway;
    this.#candidate = first.candidate;
    this.#upstream = first.upstream;
  }

  /** Where the attempt under way goes; at the end, who answered, or whose error was told. */
  get candidate(): Candidate {
    return this.#candidate;
  }

  /** The request as the candidate is sent it. */
  get upstream(): UpstreamRequest {
    return this.#upstream;
  }

  /** Attempts that were begun. */
  get begun(): number {
    return this.#begun;
  }

  /** Those that failed before there was an answer, in order. */
  get failed(): readonly FailedAttempt[] {
    return this.#failed;
  }

  /** No attempt is begun after the present one: the caller has been sent something. */
  noMore(): void {
    this.#isLast = true;
  }

  /** The call's time is over: an upstream that has not answered yet let all of it pass. */
  timeIsUp(): void {
    this.#timeIsUp = true;
  }

  /**
   * Makes attempts until there is an answer; to be called once.
   *
   * @throws {ApiError} the most telling failure where there is none; the signal's reason where it was aborted
   */
  async answer(deadlineMs: number): Promise<AttemptResult> {
    const { offer } = this.#gateway;
    offer.budget(this.#options.model).deposit();
    this.#reconsider();
    for (;;) {
      const candidate = this.#candidate;
      const result = await this.#attempt();
      const nowMs = this.#gateway.now();
      if (result.type !== "failed") {
        this.#answered = true;
        this.#caller = undefined;
        this.#upstream = { ...this.#upstream, bytes: NOTHING };
        candidate.health.answered(nowMs);
        return result;
      }
      blame(candidate.health, result.error, nowMs, this.#isProbe);
      this.#failed = [...this.#failed, { ...result, candidate }];
      const waitMs = this.#goOn(nowMs, deadlineMs);
      if (waitMs === undefined) throw this.#mostTelling();
      if (waitMs > 0) await this.#pause(waitMs);
    }
  }

  /** An answer has come to its end; `error` is what broke a stream off from the upstream's side. */
  ended(how: "complete" | "failed", error?: ApiError): void {
    const { health } = this.#candidate;
    const nowMs = this.#gateway.now();
    if (how === "complete") health.succeeded(nowMs);
    else if (error !== undefined && this.#answered) {
      blame(health, error, nowMs, false);
    }
  }

  async #attempt(): ReturnType<typeof attempt> {
    const { encode, dialectHeaders, trace, signal } = this.#options;
    const caller = this.#caller;
    if (caller === undefined) throw new Error("the call is answered");
    const { health } = this.#candidate;
    this.#isProbe = health.enter(this.#gateway.now());
    this.#begun++;
    try {
      return await attempt({
        client: this.#gateway.client,
        candidate: this.#candidate,
        caller: caller.dialect,
        upstream: this.#upstream,
        stream: caller.request.stream,
        encode,
        dialectHeaders,
        trace,
        signal,
      });
    } catch (error) {
      // A caller that leaves says nothing of the upstream.
      if (this.#timeIsUp) health.failed(this.#gateway.now());
      else health.left(this.#isProbe);
      throw error;
    }
  }

  /** While the call was being granted, another may have become the one probe of the candidate that was chosen. */
  #reconsider(): void {
    const { candidates, unfit } = this.#options;
    const { now, random } = this.#gateway;
    const nowMs = now();
    if (candidates.length === 1 || this.#candidate.health.admits(nowMs)) return;
    const found = this.#fitting(() => choose(candidates, unfit, nowMs, random));
    if (found !== undefined) this.#turnTo(found);
  }

  /** Turns to the next attempt: how long to wait before it, or undefined where there is to be none. */
  #goOn(nowMs: number, deadlineMs: number): number | undefined {
    if (this.#isLast) return undefined;
    const { model, candidates, unfit } = this.#options;
    const { config, offer, random } = this.#gateway;
    let waitMs = 0;
    const found = this.#fitting(() => {
      const next = nextAttempt({
        candidates,
        unfit,
        failed: this.#failed,
        maxAttempts: config.maxAttempts,
        nowMs,
        deadlineMs,
        random,
      });
      waitMs = next?.waitMs ?? 0;
      return next?.candidate;
    });
    if (found === undefined || !offer.budget(model).withdraw(nowMs)) {
      return undefined;
    }
    this.#turnTo(found);
    return waitMs;
  }

  /** The next candidate that can be told the request: it is not wrong because some cannot. */
  #fitting(next: () => Candidate | undefined): Fitting | undefined {
    const { isStrict, unfit } = this.#options;
    const caller = this.#caller;
    if (caller === undefined) return undefined;
    try {
      return fitting(caller, isStrict, unfit, next);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return undefined;
    }
  }

  #turnTo({ candidate, upstream }: Fitting): void {
    this.#candidate = candidate;
    this.#upstream = upstream;
  }

  /** Waits before a further attempt; throws where there is to be none after all. */
  async #pause(ms: number): Promise<void> {
    const { timers, now } = this.#gateway;
    const { signal } = this.#options;
    await new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let timer: TimerId | undefined = undefined;
      const ended = (): void => {
        if (timer !== undefined) timers.clear(timer);
        reject(signal.reason);
      };
      timer = timers.set(() => {
        signal.removeEventListener("abort", ended);
        resolve();
      }, ms);
      signal.addEventListener("abort", ended, { once: true });
    });
    // Meanwhile the caller may have been sent something, or others have found the candidate broken.
    if (this.#isLast || this.#candidate.health.state(now()) !== "closed") {
      throw this.#mostTelling();
    }
  }

  #mostTelling(): ApiError {
    const { error, candidate } = mostTelling(this.#failed);
    this.#candidate = candidate;
    return error;
  }
}
