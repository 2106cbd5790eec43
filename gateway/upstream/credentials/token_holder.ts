/**
 * Holds a token over its source: one refresh at a time, ahead of the expiry. The caches of the
 * vendors' libraries are not used: they refresh per call, or only after the expiry.
 */
import {
  type CredentialContext,
  credentialReason,
  type CredentialState,
  noCredential,
} from "./credential.ts";

/** What a source gives. */
export interface Token {
  /** Distinguishes it from other tokens of the source; may be the token itself. */
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

/** How long before its expiry a token is refreshed; half of what is left, for a short-lived one. */
const REFRESH_AHEAD_MS = 5 * 60_000;
/** Waits between failed refreshes, and between refreshes that follow a refusal. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/** A token that is kept fresh, see {@linkcode TokenHolder.token}. */
export class TokenHolder<T extends Token> {
  readonly #obtain: () => Promise<T>;
  readonly #context: CredentialContext;
  #token: T | undefined;
  #previous: T | undefined;
  #refreshAtMs = 0;
  #refresh: Promise<T> | undefined;
  #failure: CredentialState["failure"];
  #waitMs = 0;
  #retry: ReturnType<CredentialContext["timers"]["set"]> | undefined;
  #refusalWaitMs = 0;
  #refusableAtMs = 0;
  #isClosed = false;

  /** `obtain` returns a token; it has time limits of its own and is never called twice at once. */
  constructor(obtain: () => Promise<T>, context: CredentialContext) {
    this.#obtain = obtain;
    this.#context = context;
  }

  /**
   * The token. Fresh until five minutes before its expiry; then it is still returned while one
   * refresh runs. Without a valid token, waits for the refresh; between failed ones, rejects at
   * once.
   */
  token(): T | Promise<T> {
    const token = this.#token;
    const nowMs = this.#context.now();
    if (token !== undefined && nowMs < this.#refreshAtMs) return token;
    const isValid = token !== undefined && nowMs < token.expiresAtMs;
    if (this.#retry === undefined) {
      const refresh = this.#refreshOnce();
      if (!isValid) return refresh;
      refresh.catch(() => {});
    }
    return isValid
      ? token
      : Promise.reject(noCredential(this.#failure?.reason ?? "no token"));
  }

  /**
   * Drops the token if it is still this one, and resolves to whether there is another. Refusals may
   * concern a single model, so a refresh that follows one is limited like a retry; in between, the
   * token stays.
   */
  async refused(id: string): Promise<boolean> {
    if (this.#token?.id === id) {
      const nowMs = this.#context.now();
      if (nowMs < this.#refusableAtMs) return false;
      const isNew = nowMs - this.#refusableAtMs > MAX_WAIT_MS;
      this.#refusalWaitMs = isNew ? FIRST_WAIT_MS : longer(this.#refusalWaitMs);
      this.#refusableAtMs = nowMs + this.#refusalWaitMs;
      this.#previous = this.#token;
      this.#token = undefined;
    }
    try {
      return (await this.token()).id !== id;
    } catch {
      // The failure is in the state.
      return false;
    }
  }

  /** The current token and the one before it. */
  known(): readonly T[] {
    return [this.#token, this.#previous].flatMap((one) => one ?? []);
  }

  /** Usable while the token is valid, or before the first refresh has failed. */
  state(): CredentialState {
    const failure = this.#failure;
    if (failure === undefined) return { usable: true };
    const token = this.#token;
    return {
      usable: token !== undefined && this.#context.now() < token.expiresAtMs,
      failure,
    };
  }

  /** Obtains the first token; never rejects. */
  async start(): Promise<void> {
    try {
      await this.token();
    } catch {
      // The failure is in the state.
    }
  }

  /** Stops retries. */
  close(): void {
    this.#isClosed = true;
    this.#stopRetry();
  }

  #refreshOnce(): Promise<T> {
    this.#refresh ??= this.#obtain().then(
      (token) => this.#succeeded(token),
      (error) => this.#failed(error),
    );
    return this.#refresh;
  }

  #succeeded(token: T): T {
    this.#refresh = undefined;
    const hadFailed = this.#failure !== undefined;
    this.#failure = undefined;
    this.#waitMs = 0;
    const current = this.#token;
    if (current !== undefined && current.id !== token.id) {
      this.#previous = current;
    }
    this.#token = token;
    const leftMs = token.expiresAtMs - this.#context.now();
    this.#refreshAtMs = token.expiresAtMs -
      Math.min(REFRESH_AHEAD_MS, leftMs / 2);
    if (hadFailed) this.#context.onChange?.(this.state());
    return token;
  }

  #failed(error: unknown): never {
    this.#refresh = undefined;
    const reason = credentialReason(error);
    const before = this.#failure;
    const sinceMs = before?.sinceMs ?? this.#context.now();
    this.#failure = { sinceMs, reason };
    if (before === undefined) this.#context.onChange?.(this.state());
    this.#waitMs = longer(this.#waitMs);
    if (!this.#isClosed) {
      this.#retry = this.#context.timers.set(() => {
        this.#stopRetry();
        this.#refreshOnce().catch(() => {});
      }, this.#waitMs);
    }
    throw noCredential(reason);
  }

  #stopRetry(): void {
    if (this.#retry !== undefined) this.#context.timers.clear(this.#retry);
    this.#retry = undefined;
  }
}

function longer(waitMs: number): number {
  return Math.min(MAX_WAIT_MS, waitMs === 0 ? FIRST_WAIT_MS : waitMs * 2);
}
