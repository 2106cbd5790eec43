/**
 * What the request pipeline asks of the accounts: who is calling, may this call be made, and what did it come to.
 * Only the interface is here; the pipeline knows nothing of keys, plans or stores.
 *
 * @module
 */
import { ApiError, type ErrorDetails } from "../../translate/error.ts";
import type { Usage } from "../../translate/reply.ts";

/** Who is calling. Valid for one request. */
export interface Caller {
  /** Who pays. */
  readonly accountId: string;
  /** Names the key in logs; it is not the key. */
  readonly keyId: string;
  /** False where the account is disabled: it may call nothing. */
  readonly isActive: boolean;
  /** Whether the key may call a model at all: the model list shows exactly these. */
  allows(model: string): boolean;
}

/** A call about to be made, at its worst. */
export interface IntendedCall {
  /** Names the call in the books: no two calls have the same. */
  readonly requestId: string;
  /** The id as the caller wrote it. */
  readonly model: string;
  /** Estimated prompt tokens. */
  readonly inputTokens: number;
  /** The most tokens that can be generated. */
  readonly maxOutputTokens: number;
  /** The caller's own user id, for attribution. */
  readonly user?: string;
}

/** How a call came out. */
export interface CallOutcome {
  /** What the upstream told. Absent figures were not told. */
  readonly usage: Usage;
  /** Characters generated and relayed, to estimate from where usage was not told. */
  readonly generatedChars: number;
  /** `caller_left` before the end; `failed` at the upstream or on the way; `refused` before anything was sent on. */
  readonly ended: "complete" | "caller_left" | "failed" | "refused";
}

/** One window of a limit, as rate-limit headers tell it. */
export interface LimitState {
  /** Units a minute. */
  readonly limit: number;
  /** Units that can be had at once. */
  readonly remaining: number;
  /** Unix time in milliseconds when it is full again. */
  readonly resetAtMs: number;
}

/** Where a caller stands, for rate-limit headers. Absent limits do not exist. */
export interface Limits {
  /** Requests a minute. */
  readonly requests?: LimitState;
  /** Tokens a minute. */
  readonly tokens?: LimitState;
}

/** A call that was refused for a reason of the account's: carries where the caller stands, for rate-limit headers. */
export class RefusedCall extends ApiError {
  /** Where the caller stands; nothing was drawn. */
  readonly limits: Limits;

  /** Takes what {@linkcode ApiError} takes, and the limits. */
  constructor(
    kind: "permission" | "rate_limit",
    message: string,
    details: ErrorDetails,
    limits: Limits,
  ) {
    super(kind, message, details);
    this.limits = limits;
  }
}

/** A granted call. It must be settled exactly once; settling again does nothing. */
export interface Reservation {
  /** Where the caller stands after the grant. */
  readonly limits: Limits;
  /**
   * Absent where nothing is awaited. Resolves once the reservation would survive the end of this process. The upstream may be called before, but no byte of its
   * answer may reach the caller before: what was answered must be in the books. Mostly it has resolved long before the upstream
   * answers. Rejects where the reservation could not be written or is refused after all; then the caller gets that error.
   *
   * @throws {ApiError} as {@linkcode Accounts.reserve}
   */
  readonly written?: Promise<void>;
  /** Never throws and never waits: what cannot be written now is written later. */
  settle(outcome: CallOutcome): void;
}

/** The accounts. */
export interface Accounts {
  /**
   * Finds the caller by the keys that the request presents, byte for byte as presented; the first valid one counts.
   *
   * @throws {ApiError} `authentication` when none is valid, `unavailable` when the store cannot be asked
   */
  authenticate(presented: readonly string[]): Promise<Caller>;
  /**
   * Grants a call.
   *
   * @throws {ApiError} `permission` with code `account_disabled`, `insufficient_balance` or `model_not_in_plan`;
   * `rate_limit` with `retryAfterSeconds`; `unavailable` when the store cannot be asked
   */
  reserve(caller: Caller, call: IntendedCall): Promise<Reservation>;
  /** Whether the store answers; for readiness. */
  ready(): Promise<boolean>;
  /** Reservations and settlements that are not written yet: few, unless the store is down or too slow. */
  backlog(): number;
  /** Writes what is still to be written and lets the store go. */
  close(): Promise<void>;
}
