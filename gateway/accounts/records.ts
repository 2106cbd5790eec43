/**
 * What is kept, as records: plans, accounts, keys, reservations, ledger entries. How they lie in the store is known to the modules
 * that read and write them.
 *
 * @module
 */
import type { CallOutcome } from "./accounts.ts";
import type { ModelPrice, Tokens } from "./money.ts";

/** What an account may do. An absent limit does not exist. */
export interface Plan {
  /** Names it. */
  readonly id: string;
  /** The models that may be called; absent: every one that is offered. */
  readonly models?: readonly string[];
  /** Requests a minute. */
  readonly requestsPerMinute?: number;
  /** Tokens a minute. */
  readonly tokensPerMinute?: number;
  /** How many requests may be under way at once. */
  readonly concurrentRequests?: number;
  /** Spending per day (UTC). */
  readonly spendPerDayMicroUsd?: number;
  /** When it was made. */
  readonly createdAtMs: number;
}

/** Whether calls need a balance that covers them, or are only written up. */
export type Billing = "prepaid" | "postpaid";

/** The balance for one model: calls of it are paid from here and from nowhere else. */
export interface Purse {
  /** The only model that it pays for. */
  readonly model: string;
  /** What is in it. */
  readonly balanceMicroUsd: number;
  /** The part of it that is held for calls under way. */
  readonly reservedMicroUsd: number;
}

/** Who pays. */
export interface Account {
  /** Names it. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** A disabled one is refused every call. */
  readonly status: "active" | "disabled";
  /** Whether calls need a balance that covers them. */
  readonly billing: Billing;
  /** The plan that says what it may do. */
  readonly planId: string;
  /** The sum of its ledger entries without those of purses. Below zero where calls came first (postpaid). */
  readonly balanceMicroUsd: number;
  /** The part of it that is held for calls under way. */
  readonly reservedMicroUsd: number;
  /** Calls under way. */
  readonly openRequests: number;
  /** Balances of single models. */
  readonly purses: readonly Purse[];
  /** When it was made. */
  readonly createdAtMs: number;
}

/** A key as it can be shown: not the key. */
export interface KeyRecord {
  /** Names it, in logs and the ledger. */
  readonly id: string;
  /** Whose it is. */
  readonly accountId: string;
  /** For people; may be empty. */
  readonly name: string;
  /** First and last letters, to recognise it by. */
  readonly hint: string;
  /** The models of the plan that it may call; absent: all of them. */
  readonly models?: readonly string[];
  /** When it was issued. */
  readonly createdAtMs: number;
  /** From then on it is refused; absent: never. */
  readonly expiresAtMs?: number;
  /** Since when it is refused; absent: it was not revoked. */
  readonly revokedAtMs?: number;
  /** To the minute. */
  readonly lastUsedAtMs?: number;
  /** The key that it was made to replace. */
  readonly replaces?: string;
}

/** A call that was granted and has not been settled. */
export interface OpenCall {
  /** Names it. */
  readonly requestId: string;
  /** Who pays. */
  readonly accountId: string;
  /** Who called. */
  readonly keyId: string;
  /** The model asked for. */
  readonly model: string;
  /** The caller's own user id. */
  readonly user?: string;
  /** Estimated. */
  readonly inputTokens: number;
  /** The most tokens that can be generated. */
  readonly maxOutputTokens: number;
  /** As of the grant: this is what will be billed. */
  readonly price: ModelPrice;
  /** What is held for it: its worst case. */
  readonly reservedMicroUsd: number;
  /** When it was granted. */
  readonly atMs: number;
}

/** What a call came to. */
export interface Charge {
  /** What is billed. */
  readonly tokens: Tokens;
  /** The part of output spent on reasoning. */
  readonly reasoningTokens: number;
  /** Whether any of the figures was not told by the upstream. */
  readonly estimated: boolean;
  /** `lost`: the process that served it died, so nobody knows. */
  readonly ended: CallOutcome["ended"] | "lost";
  /** What they come to. */
  readonly costMicroUsd: number;
}

/** One line of the books. */
export interface LedgerEntry {
  /** Counts up; the order of the books. */
  readonly seq: number;
  /** Money out for a call, or money in. */
  readonly kind: "charge" | "top_up";
  /** The request, or the top-up's own id. No id is entered twice. */
  readonly requestId: string;
  /** Whose balance it moves. */
  readonly accountId: string;
  /** Who called; of charges only. */
  readonly keyId?: string;
  /** What was called; of charges only. */
  readonly model?: string;
  /** The model whose own balance it moves; absent: the account's balance. */
  readonly purse?: string;
  /** The caller's own user id. */
  readonly user?: string;
  /** Prompt tokens at the full rate. */
  readonly inputTokens: number;
  /** Prompt tokens read from a cache. */
  readonly cacheReadTokens: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWriteTokens: number;
  /** Tokens generated, reasoning included. */
  readonly outputTokens: number;
  /** The part of them spent on reasoning. */
  readonly reasoningTokens: number;
  /** Micro-dollars per million tokens: input/cache read/cache write/output. */
  readonly price?: string;
  /** Whether any of the figures was not told by the upstream. */
  readonly estimated: boolean;
  /** How the call came out; of charges only. */
  readonly ended?: string;
  /** What the money is for; of top-ups only. */
  readonly note?: string;
  /** What it adds to the balance: negative for a charge. */
  readonly microUsd: number;
  /** When it was entered. */
  readonly atMs: number;
}
