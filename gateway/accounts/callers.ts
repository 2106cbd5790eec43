/**
 * Who is calling: from the keys that a request presents to an account, with a memory, so that a busy key asks nothing of the store.
 *
 * What is remembered is trusted as long as the store's *revision* (a number that counts up with every change of a key, plan or
 * account) is known to be the same, and the last look at it is younger than the store's `trustMs`. So however many keys there
 * are, one small read in that time keeps all of them fresh, and a revoked key is refused at most that much later. Changes
 * made in this process are known at once.
 *
 * @module
 */
import type { Caller } from "./accounts.ts";
import { unavailable } from "./journal.ts";
import { invalidKey, isWellFormed, keyHash, sameHash } from "./key.ts";
import type { Account, KeyRecord, Plan } from "./records.ts";
import { accountFrom, PLAN_PICKS, planFrom } from "./standing_rows.ts";
import { keyFrom } from "./key_rows.ts";
import { intOf, type SqlRow, type Store } from "./store.ts";

/** What is known of a caller. */
export interface Identity {
  /** Absent for the configured key. */
  readonly key?: KeyRecord;
  /** As of the last look; its figures are old. */
  readonly account: Omit<Account, "purses">;
  /** What it may do, as of the last look. */
  readonly plan: Plan;
  /** Whether any model has a balance of its own. */
  readonly hasPurses: boolean;
}

/** What the memory works with. */
export interface CallersOptions {
  /** Where keys are looked for. */
  readonly store: Store;
  /** The clock. */
  readonly now: () => number;
  /** Works for the default account without being in the store. Only its hash is kept, and only in memory. */
  readonly configuredKey?: string;
}

/** Knows callers. */
export interface Callers {
  /** See {@linkcode Accounts.authenticate}. */
  authenticate(presented: readonly string[]): Promise<Caller>;
  /** What is known of a caller that {@linkcode authenticate} gave. */
  identity(caller: Caller): Identity;
  /** Tells of a change made in this process. */
  changed(revision: number): void;
}

/** The account that the configured key and the first key belong to. */
export const DEFAULT_ACCOUNT = "default";
/** Stands for the configured key where a key's id is asked for. */
export const CONFIGURED_KEY_ID = "configured";

const MAX_REMEMBERED = 10_000;
const MAX_PRESENTED = 4;
const MAX_LOOKS = 5;

interface Remembered {
  readonly revision: number;
  /** Absent: there is no such key. */
  readonly caller?: Caller;
}

/** Opens the memory. */
export function openCallers(options: CallersOptions): Callers {
  const { store, now } = options;
  const configured = options.configuredKey === undefined
    ? undefined
    : keyHash(options.configuredKey);
  /** By the hash of the key. */
  const remembered = new Map<string, Remembered>();
  const identities = new WeakMap<Caller, Identity>();
  let revision = 0;
  let lookedAtMs = -Infinity;
  let looking: Promise<void> | undefined;

  /** Takes note of a revision that the store had at a time after `startedMs`. */
  const saw = (seen: number, startedMs: number): void => {
    if (seen < revision) return;
    revision = seen;
    lookedAtMs = Math.max(lookedAtMs, startedMs);
  };

  const look = async (): Promise<void> => {
    const startedMs = now();
    const [row] = await store.read("SELECT value FROM revision WHERE id = 1");
    if (row !== undefined) saw(intOf(row, "value"), startedMs);
  };

  const isFresh = (): boolean => now() - lookedAtMs <= store.trustMs;

  const refresh = async (): Promise<void> => {
    for (let looks = 0; !isFresh(); looks++) {
      if (looks === MAX_LOOKS) throw new Error("the store answers too slowly");
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
    }
  };

  const isConfigured = (hash: string): boolean =>
    configured !== undefined && sameHash(hash, configured);

  const callerOf = (identity: Identity): Caller => {
    const { account, key, plan } = identity;
    const ofPlan = plan.models === undefined ? undefined : new Set(plan.models);
    const ofKey = key?.models === undefined ? undefined : new Set(key.models);
    const caller: Caller = {
      accountId: account.id,
      keyId: key?.id ?? CONFIGURED_KEY_ID,
      isActive: account.status === "active",
      allows: (model) =>
        (ofPlan?.has(model) ?? true) && (ofKey?.has(model) ?? true),
    };
    identities.set(caller, identity);
    return caller;
  };

  const load = async (hash: string): Promise<Remembered> => {
    const [from, value] = isConfigured(hash)
      ? [FROM_ACCOUNT, DEFAULT_ACCOUNT]
      : [FROM_KEY, hash];
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const startedMs = now();
      const [row] = await store.read(
        `SELECT r.value AS revision, k.*, a.id AS account__id, ${ACCOUNT_PICKS}, ${PLAN_PICKS}, ` +
          `(SELECT COUNT(*) FROM purses WHERE account_id = a.id) AS purses FROM revision r ${from}`,
        [value],
      );
      if (row === undefined) throw new Error("the store has no revision");
      const seen = intOf(row, "revision");
      saw(seen, startedMs);
      // Older than what is known already: the key was changed while it was being read.
      if (seen < revision) continue;
      const identity = identityFrom(row);
      const found: Remembered = {
        revision: seen,
        ...(identity === undefined ? {} : { caller: callerOf(identity) }),
      };
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(hash, found);
      return found;
    }
    throw new Error("the store's revision lags behind");
  };

  const find = async (hash: string): Promise<Caller | undefined> => {
    if (remembered.has(hash) && !isFresh()) await refresh();
    let known = remembered.get(hash);
    if (known === undefined || known.revision !== revision) {
      known = await load(hash);
    }
    if (known.caller === undefined) return undefined;
    return isValid(identities.get(known.caller)?.key, now())
      ? known.caller
      : undefined;
  };

  return {
    async authenticate(presented) {
      for (const text of presented.slice(0, MAX_PRESENTED)) {
        const hash = keyHash(text);
        // A text that no key can have is not looked for.
        if (
          !remembered.has(hash) && !isConfigured(hash) && !isWellFormed(text)
        ) continue;
        let caller: Caller | undefined;
        try {
          caller = await find(hash);
        } catch (error) {
          throw unavailable(1000, error);
        }
        if (caller !== undefined) return caller;
      }
      throw invalidKey(presented.length > 0);
    },
    identity(caller) {
      const identity = identities.get(caller);
      if (identity === undefined) {
        throw new Error("the caller was not given by authenticate()");
      }
      return identity;
    },
    changed(to) {
      revision = Math.max(revision, to);
    },
  };
}

const ACCOUNT_PICKS = [
  "name",
  "status",
  "billing",
  "plan_id",
  "balance_micro_usd",
  "reserved_micro_usd",
  "open_requests",
  "created_at_ms",
].map((name) => `a.${name} AS account__${name}`).join(", ");

const FROM_KEY =
  "LEFT JOIN keys k ON k.hash = $1 LEFT JOIN accounts a ON a.id = k.account_id LEFT JOIN plans p ON p.id = a.plan_id WHERE r.id = 1";
const FROM_ACCOUNT =
  "LEFT JOIN accounts a ON a.id = $1 LEFT JOIN keys k ON k.id = '' LEFT JOIN plans p ON p.id = a.plan_id WHERE r.id = 1";

function identityFrom(row: SqlRow): Identity | undefined {
  if (row["account__id"] === null) return undefined;
  const account: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith("account__")) {
      account[name.slice("account__".length)] = value;
    }
  }
  return {
    ...(row["id"] === null ? {} : { key: keyFrom(row) }),
    account: accountFrom(account),
    plan: planFrom(row, "plan__"),
    hasPurses: intOf(row, "purses") > 0,
  };
}

/** The configured key has no record: it is valid as long as it is configured. */
function isValid(key: KeyRecord | undefined, nowMs: number): boolean {
  if (key === undefined) return true;
  return key.revokedAtMs === undefined &&
    (key.expiresAtMs === undefined || nowMs < key.expiresAtMs);
}
