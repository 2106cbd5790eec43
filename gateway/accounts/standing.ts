/**
 * Where an account stands, and how calls and top-ups move it. Pure: each function gives the next standing. Whether a call may be
 * made at all is decided in `admission.ts`; how a standing is kept is known to `books.ts`.
 *
 * @module
 */
import type { Limits } from "./accounts.ts";
import { type Bucket, drawn, leaked, limitState } from "./bucket.ts";
import type { Account, Charge, OpenCall, Plan } from "./records.ts";

/** A day in milliseconds. Days are UTC. */
export const DAY_MS = 86_400_000;

/** Where an account stands: what the next decision rests on. */
export interface Standing {
  /** The account without its purses. */
  readonly account: Omit<Account, "purses">;
  /** What it may do. */
  readonly plan: Plan;
  /** Models' own balances, by model. */
  readonly purses: ReadonlyMap<string, Held>;
  /** The requests of the minute. */
  readonly requests: Bucket;
  /** The tokens of the minute. */
  readonly tokens: Bucket;
  /** Spent on `day`, counted in days since 1970 in UTC. */
  readonly day: number;
  /** In whole micro-dollars. */
  readonly daySpentMicroUsd: number;
}

/** A balance, and the part of it that is held for calls under way. */
export interface Held {
  /** What is in it. */
  readonly balanceMicroUsd: number;
  /** The part of it that is held. */
  readonly reservedMicroUsd: number;
}

/** The account after a granted call came to its end; `held` is what had been reserved, if the reservation was still there. */
export function settled(
  before: Standing,
  call: OpenCall,
  purse: string,
  charge: Charge,
  held: boolean,
  nowMs: number,
): Standing {
  const standing = held
    ? release(before, call, purse, nowMs)
    : asOf(before, nowMs);
  const { tokens } = charge;
  const total = tokens.input + tokens.cacheRead + tokens.cacheWrite +
    tokens.output;
  const paid = topped(standing, purse, -charge.costMicroUsd);
  return {
    ...paid,
    // At the grant the estimated prompt was drawn; what it truly came to takes its place.
    tokens: paid.plan.tokensPerMinute === undefined
      ? paid.tokens
      : drawn(paid.tokens, total - (held ? call.inputTokens : 0)),
    daySpentMicroUsd: paid.daySpentMicroUsd + charge.costMicroUsd,
  };
}

/** The account after a reservation was taken back as if it had never been made. */
export function voided(
  before: Standing,
  call: OpenCall,
  purse: string,
  nowMs: number,
): Standing {
  const standing = release(before, call, purse, nowMs);
  return {
    ...standing,
    requests: drawn(standing.requests, -1),
    tokens: drawn(standing.tokens, -call.inputTokens),
  };
}

/** The account, or its purse, with an amount more in it. */
export function topped(
  standing: Standing,
  purse: string,
  microUsd: number,
): Standing {
  return moved(standing, purse, microUsd, 0, 0);
}

function release(
  standing: Standing,
  call: OpenCall,
  purse: string,
  nowMs: number,
): Standing {
  return hold(asOf(standing, nowMs), purse, -call.reservedMicroUsd, -1);
}

/** The account with more (or less, below zero) held, and more (or fewer) requests open. */
export function hold(
  standing: Standing,
  purse: string,
  microUsd: number,
  requests: number,
): Standing {
  return moved(standing, purse, 0, microUsd, requests);
}

function moved(
  standing: Standing,
  purse: string,
  balance: number,
  reserved: number,
  requests: number,
): Standing {
  const change = <H extends Held>(held: H): H => ({
    ...held,
    balanceMicroUsd: held.balanceMicroUsd + balance,
    reservedMicroUsd: held.reservedMicroUsd + reserved,
  });
  const openRequests = standing.account.openRequests + requests;
  if (purse === "") {
    return {
      ...standing,
      account: { ...change(standing.account), openRequests },
    };
  }
  const purses = new Map(standing.purses);
  purses.set(
    purse,
    change(purses.get(purse) ?? { balanceMicroUsd: 0, reservedMicroUsd: 0 }),
  );
  return {
    ...standing,
    account: { ...standing.account, openRequests },
    purses,
  };
}

/** The account at a later time: buckets leak, and a new day has nothing spent. */
export function asOf(standing: Standing, nowMs: number): Standing {
  const { plan } = standing;
  const day = Math.max(standing.day, Math.floor(nowMs / DAY_MS));
  return {
    ...standing,
    requests: leaked(standing.requests, plan.requestsPerMinute, nowMs),
    tokens: leaked(standing.tokens, plan.tokensPerMinute, nowMs),
    day,
    daySpentMicroUsd: day === standing.day ? standing.daySpentMicroUsd : 0,
  };
}

/** Where the account stands with its limits per minute. */
export function limitsOf(standing: Standing): Limits {
  const { requestsPerMinute, tokensPerMinute } = standing.plan;
  return {
    ...(requestsPerMinute === undefined
      ? {}
      : { requests: limitState(standing.requests, requestsPerMinute) }),
    ...(tokensPerMinute === undefined
      ? {}
      : { tokens: limitState(standing.tokens, tokensPerMinute) }),
  };
}

/** What is held for calls under way, whatever pays for them. */
export function reservedInAll(standing: Standing): number {
  let sum = standing.account.reservedMicroUsd;
  for (const purse of standing.purses.values()) sum += purse.reservedMicroUsd;
  return sum;
}
