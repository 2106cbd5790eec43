/**
 * The stored records: plans, accounts, keys, reservations, ledger entries. Their SQL form
 * is in `store/`.
 *
 * Replies to requests with an idempotency key are stored as JSON of an `Account`, `Plan`,
 * `KeyRecord` or `LedgerEntry`, so a new name for one of their fields makes replies stored
 * before the upgrade unreadable.
 *
 * @module
 */
import type { CallOutcome } from "./call_outcome.ts";
import type { ModelPrice, Tokens } from "./ledger/money.ts";

/** The models and limits of the accounts on it. An absent limit means no limit. */
export interface Plan {
  /** Unique id of the plan. */
  readonly id: string;
  /** Models that may be called; absent: all models. */
  readonly models?: readonly string[];
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Maximum number of requests at once. */
  readonly concurrentRequests?: number;
  /** Spending limit per day (UTC). */
  readonly spendPerDayMicroUsd?: number;
  /** Creation time, Unix milliseconds. */
  readonly createdAtMs: number;
}

/**
 * `prepaid`: a call needs a balance that covers its worst case. `postpaid`: calls are only
 * recorded.
 */
export type Billing = "prepaid" | "postpaid";

/** A balance reserved for one model. If it exists, calls of the model are paid from it alone. */
export interface ModelBalance {
  /** Id of the model. */
  readonly model: string;
  /** Balance in micro-dollars, including the reserved part. */
  readonly balanceMicroUsd: number;
  /** Part of the balance reserved for active calls. */
  readonly reservedMicroUsd: number;
}

/** An account: the payer of calls. */
export interface Account {
  /** Unique id of the account. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** A disabled account may make no calls. */
  readonly status: "active" | "disabled";
  /** Whether calls need a balance that covers them. */
  readonly billing: Billing;
  /** Id of the account's plan. */
  readonly planId: string;
  /**
   * Sum of the account's ledger entries, without those of model balances. May be negative
   * if postpaid.
   */
  readonly balanceMicroUsd: number;
  /** Part of the balance reserved for active calls. */
  readonly reservedMicroUsd: number;
  /** Number of active calls. */
  readonly openRequests: number;
  /** Balances reserved for single models. */
  readonly purses: readonly ModelBalance[];
  /** Creation time, Unix milliseconds. */
  readonly createdAtMs: number;
}

/** A key's metadata; the key itself is never stored. */
export interface KeyRecord {
  /** Unique id of the key, used in logs and the ledger. */
  readonly id: string;
  /** Id of the account that the key belongs to. */
  readonly accountId: string;
  /** Display name; may be empty. */
  readonly name: string;
  /** First and last characters of the key, to recognise it. */
  readonly hint: string;
  /** Subset of the plan's models; absent: all of them. */
  readonly models?: readonly string[];
  /** Creation time, Unix milliseconds. */
  readonly createdAtMs: number;
  /** The key is refused from this time on; absent: it does not expire. */
  readonly expiresAtMs?: number;
  /** Time of revocation; absent: not revoked. */
  readonly revokedAtMs?: number;
  /** Time of the last use, exact to the minute. */
  readonly lastUsedAtMs?: number;
  /** Id of the key that this one replaces. */
  readonly replaces?: string;
}

/** A granted call that is not settled yet. */
export interface ReservedCall {
  readonly requestId: string;
  /** Id of the account that pays. */
  readonly accountId: string;
  /** Id of the key that was used. */
  readonly keyId: string;
  /** Requested model. */
  readonly model: string;
  /** The client's own id of its end user. */
  readonly user?: string;
  /** Estimated prompt tokens. */
  readonly inputTokens: number;
  /** Upper bound of the generated tokens. */
  readonly maxOutputTokens: number;
  /** Price at the time of the reservation; the call is charged at this price. */
  readonly price: ModelPrice;
  /** Reserved amount: the worst-case cost. */
  readonly reservedMicroUsd: number;
  /** Time of the reservation, Unix milliseconds. */
  readonly atMs: number;
}

/** The charge for a call. */
export interface Charge {
  /** Billed tokens. */
  readonly tokens: Tokens;
  /** Part of the output tokens spent on reasoning. */
  readonly reasoningTokens: number;
  /** Whether any count is an estimate because the upstream did not report it. */
  readonly estimated: boolean;
  /** How the call ended; `lost`: the process that served it died, so its end is unknown. */
  readonly ended: CallOutcome["ended"] | "lost";
  /** Cost of the billed tokens. */
  readonly costMicroUsd: number;
}

export interface LedgerEntry {
  /** Sequence number; gives the order of the entries. */
  readonly seq: number;
  /** A charge for a call, or money put into an account. */
  readonly kind: "charge" | "top_up";
  /** Id of the request, or of the top-up. Unique in the ledger. */
  readonly requestId: string;
  /** Id of the account whose balance changes. */
  readonly accountId: string;
  /** Id of the key that was used; charges only. */
  readonly keyId?: string;
  /** Model that was called; charges only. */
  readonly model?: string;
  /** Model whose own balance changes; absent: the account's balance. */
  readonly purse?: string;
  /** The client's own id of its end user. */
  readonly user?: string;
  /** Prompt tokens at the full rate. */
  readonly inputTokens: number;
  /** Prompt tokens read from a cache. */
  readonly cacheReadTokens: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWriteTokens: number;
  /** Tokens generated, reasoning included. */
  readonly outputTokens: number;
  /** Part of the output tokens spent on reasoning. */
  readonly reasoningTokens: number;
  /** Micro-dollars per million tokens: input/cache read/cache write/output. */
  readonly price?: string;
  /** Whether any count is an estimate because the upstream did not report it. */
  readonly estimated: boolean;
  /** How the call ended; charges only. */
  readonly ended?: string;
  /** The operator's note; top-ups only. */
  readonly note?: string;
  /** Amount added to the balance: negative for a charge. */
  readonly microUsd: number;
  /** Time of the entry, Unix milliseconds. */
  readonly atMs: number;
}
