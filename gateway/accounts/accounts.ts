/**
 * What the request pipeline needs of the accounts: authenticate a caller, reserve a call's
 * cost, and settle it. Only the interface is here; the pipeline knows nothing of keys,
 * plans or stores.
 */
import { ApiError, type ErrorDetails } from "../../translate/model/error.ts";
import type { Asked } from "./charges/asked.ts";
import type { Charge } from "./records.ts";
import type { CallOutcome } from "./call_outcome.ts";
import type { Seal } from "./seal.ts";

/** An authenticated caller. Valid for one request. */
export interface Caller {
  readonly accountId: string;
  /** Id of the key, for logs; not the key itself. */
  readonly keyId: string;
  /** False if the account is disabled: every call is then refused. */
  readonly isActive: boolean;
  /** Encrypts what is stored for the presented key alone. */
  readonly seal: Seal;
  /**
   * Whether both the plan and the key permit the model. The model list shows exactly the
   * permitted ones.
   */
  allows(model: string): boolean;
}

/** A call before it is made, with its worst-case size. */
export interface IntendedCall {
  /** Unique id of the call; the ledger holds at most one entry for it. */
  readonly requestId: string;
  /** Model id as the client sent it. */
  readonly model: string;
  /** Estimated prompt tokens. */
  readonly inputTokens: number;
  /** Upper bound of the generated tokens. */
  readonly maxOutputTokens: number;
  /** The client's own id of its end user, for usage reports. */
  readonly user?: string;
  /** What it asks for beside tokens at the base rates; absent: nothing. */
  readonly asked?: Asked;
}

/** State of one per-minute limit, for rate-limit headers. */
export interface LimitState {
  /** Units per window: a minute, a day, a week or a month. */
  readonly limit: number;
  /** Units that are available at once. */
  readonly remaining: number;
  /** Unix time in milliseconds at which the whole limit is available again. */
  readonly resetAtMs: number;
}

/**
 * State of the caller's nearest limits, of the key or the plan, for rate-limit headers. Absent: none
 * is set.
 */
export interface Limits {
  readonly requests?: LimitState;
  readonly tokens?: LimitState;
}

/**
 * A call refused because of the account's state or limits. Carries the limits for
 * rate-limit headers.
 */
export class RefusedCall extends ApiError {
  /** Limits at the time of the refusal; a refusal consumes nothing. */
  readonly limits: Limits;

  /** Takes the arguments of {@linkcode ApiError}, and the limits. */
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

/** The key of a refused request, where the store knows it: a revoked or an expired one. */
export class RefusedKey extends ApiError {
  readonly holder: Pick<Caller, "accountId" | "keyId">;
  /** Why the key is refused; never sent to the client. */
  readonly reason: "key_revoked" | "key_expired";

  /** The client receives `error`, as for an unknown key. */
  constructor(
    error: ApiError,
    holder: Pick<Caller, "accountId" | "keyId">,
    reason: "key_revoked" | "key_expired",
  ) {
    super(error.kind, error.message, error.details);
    this.holder = holder;
    this.reason = reason;
  }
}

/**
 * A reserved call: granted, or very probably granted. Settle it exactly once; later calls of
 * `settle` do nothing.
 */
export interface Reservation {
  /**
   * Resolves once the call is granted. The upstream may be called before that. Rejects if the call
   * is refused or its reservation could not be written; the client then receives that error.
   *
   * @throws {ApiError} as {@linkcode Accounts.reserve}
   */
  readonly decided: Promise<void>;
  /**
   * Resolves to the limits after this call once its reservation survives the end of this process.
   * No byte of a reply may reach the client before: a reply that was delivered must be in the
   * ledger. Call it when there is a reply: an undecided reservation may gather with others until
   * then. Usually resolves at once, because the upstream takes longer than the write.
   *
   * @throws {ApiError} as {@linkcode Accounts.reserve}
   */
  durable(): Promise<Limits>;
  /** Prompt tokens assumed by the reservation. */
  readonly inputTokens: number;
  /** Generated tokens that it has room for. */
  readonly maxOutputTokens: number;
  /**
   * Charges the call and returns the charge. Never throws and never waits: the write
   * happens in the background and is retried until it succeeds. A second call returns the
   * first charge. A call that was refused is not entered.
   */
  settle(outcome: CallOutcome): Charge;
}

/** The accounts, as the request pipeline sees them. */
export interface Accounts {
  /**
   * Authenticates a caller by the keys that the request presents, compared byte for byte.
   * The first valid key is used.
   *
   * @throws {ApiError} `authentication` if no key is valid, `unavailable` if the store does
   * not answer
   */
  authenticate(presented: readonly string[]): Promise<Caller>;
  /**
   * Reserves the call's worst-case cost. Waits for the decision, unless the call will very probably
   * be granted: then {@linkcode Reservation.decided} is to be observed.
   *
   * @throws {ApiError} `permission` with code `account_disabled`, `insufficient_balance` or
   * `model_not_in_plan`; `rate_limit` with `retryAfterSeconds`; `unavailable` if the store
   * does not answer
   */
  reserve(caller: Caller, call: IntendedCall): Promise<Reservation>;
  /**
   * Begins a count of tokens, which costs nothing and has no entry in the ledger: it needs what a
   * call needs, a balance too, and takes a request of the limits. Returns what ends it, once.
   *
   * @throws {ApiError} as {@linkcode Accounts.reserve}
   */
  beginCount(
    caller: Caller,
    count: Pick<IntendedCall, "requestId" | "model">,
  ): Promise<() => void>;
  /** Whether the store answers; for readiness checks. */
  ready(): Promise<boolean>;
  /**
   * Number of reservations and settlements not written yet: a few, unless the store is down
   * or slow.
   */
  backlog(): number;
  /** Writes pending settlements and closes the store. */
  close(): Promise<void>;
}
