/**
 * Authenticates callers: maps the keys that a request presents to an account. Results are
 * cached, so that a busy key does not read the store.
 *
 * A cached result is used while the store's *revision* (a number incremented with every
 * change of a key, plan or account) is unchanged and was read less than the store's
 * `maxStalenessMs` ago. So one small read per interval keeps all keys fresh, and a revoked key is
 * refused at most that much later. Changes made in this process take effect immediately.
 */
import { type Caller, RefusedKey } from "./accounts.ts";
import { unavailable } from "./ledger/write_batcher.ts";
import {
  hashesEqual,
  invalidKey,
  isWellFormed,
  keyHash,
  tokenInsteadOfKey,
} from "./key.ts";
import {
  ACCOUNT_ROW,
  type AccountRow,
  hasLimits,
  KEY,
  type KeyRecord,
  PLAN,
  type Plan,
} from "./records.ts";
import { ACCOUNT_PICKS, PLAN_PICKS } from "./rows/account_state_rows.ts";
import { deriveSeal, type Seal } from "./seal.ts";
import { recordFrom } from "./rows/record_rows.ts";
import { intOf, type SqlRow, type Store } from "./store/store.ts";

/** The account, plan and key behind a caller. */
interface Identity {
  /** Absent for the configured key. */
  readonly key?: KeyRecord;
  /** As of the last read; its balances may be outdated. */
  readonly account: AccountRow;
  /** The account's plan, as of the last read. */
  readonly plan: Plan;
  /**
   * Whether admission has no reason to refuse a call: no limit is set and no balance must cover
   * the call.
   */
  readonly isUnconditional: boolean;
}

interface AuthenticatorOptions {
  /** The store with keys, accounts and plans. */
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /**
   * A key for the default account that is not in the store; asked at each call.
   */
  readonly configuredKey?: () => string | undefined;
}

interface Authenticator {
  /** See {@linkcode Accounts.authenticate}. */
  authenticate(presented: readonly string[]): Promise<Caller>;
  /** Account, plan and key of a caller that {@linkcode authenticate} returned. */
  identity(caller: Caller): Identity;
  /** Reports a change made in this process, with the new revision. */
  revisionChanged(revision: number): void;
}

/** The account of the configured key and of the first key. */
export const DEFAULT_ACCOUNT = "default";
export const CONFIGURED_KEY_ID = "configured";

const MAX_CACHED = 10_000;
const MAX_PRESENTED = 4;
const MAX_READS = 5;

interface Found {
  readonly caller: Caller;
  /** Why the key is refused; undefined: it is valid. */
  readonly refusal: RefusedKey["reason"] | undefined;
}

interface CacheEntry {
  readonly revision: number;
  /** Absent: the key does not exist. */
  readonly caller?: Caller;
}

export function createAuthenticator(
  options: AuthenticatorOptions,
): Authenticator {
  const { store, now } = options;
  let configured: { readonly key: string; readonly hash: string } | undefined;
  /** Keyed by the hash of the key. */
  const cache = new Map<string, CacheEntry>();
  /** Hashes of cached keys that exist: hashing takes longer than the rest of an authentication. */
  const hashes = new Map<string, string>();
  const identities = new WeakMap<Caller, Identity>();
  let revision = 0;
  let readAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  /** Records a revision that the store had at some time after `startedMs`. */
  const noteRevision = (storedRevision: number, startedMs: number): void => {
    if (storedRevision < revision) return;
    revision = storedRevision;
    readAtMs = Math.max(readAtMs, startedMs);
  };

  const readRevision = async (): Promise<void> => {
    const startedMs = now();
    const [row] = await store.read("SELECT value FROM revision WHERE id = 1");
    if (row !== undefined) noteRevision(intOf(row, "value"), startedMs);
  };

  const isFresh = (): boolean => now() - readAtMs <= store.maxStalenessMs;

  const refresh = async (): Promise<void> => {
    for (let reads = 0; !isFresh(); reads++) {
      if (reads === MAX_READS) {
        throw new Error("the store's revision could not be read in time");
      }
      reading ??= readRevision().finally(() => {
        reading = undefined;
      });
      await reading;
    }
  };

  const isConfigured = (hash: string): boolean => {
    const key = options.configuredKey?.();
    if (key === undefined) return false;
    if (configured?.key !== key) configured = { key, hash: keyHash(key) };
    return hashesEqual(hash, configured.hash);
  };

  const callerOf = (identity: Identity, seal: Seal): Caller => {
    const { account, key, plan } = identity;
    const planModels = plan.models === undefined
      ? undefined
      : new Set(plan.models);
    const keyModels = key?.models === undefined
      ? undefined
      : new Set(key.models);
    const caller: Caller = {
      accountId: account.id,
      keyId: key?.id ?? CONFIGURED_KEY_ID,
      isActive: account.status === "active",
      seal,
      allows: (model) =>
        (planModels?.has(model) ?? true) && (keyModels?.has(model) ?? true),
    };
    identities.set(caller, identity);
    return caller;
  };

  const load = async (hash: string, text: string): Promise<CacheEntry> => {
    const [from, value] = isConfigured(hash)
      ? [FROM_ACCOUNT, DEFAULT_ACCOUNT]
      : [FROM_KEY, hash];
    for (let reads = 0; reads < MAX_READS; reads++) {
      const startedMs = now();
      const [row] = await store.read(
        `SELECT r.value AS revision, k.*, ${ACCOUNT_PICKS}, ${PLAN_PICKS}, ` +
          `(SELECT COUNT(*) FROM purses WHERE account_id = a.id) AS purses FROM revision r ${from}`,
        [value],
      );
      if (row === undefined) {
        throw new Error("the store's revision table is empty");
      }
      const storedRevision = intOf(row, "revision");
      noteRevision(storedRevision, startedMs);
      // Older than the known revision: the key was changed while it was read.
      if (storedRevision < revision) continue;
      const identity = identityFrom(row);
      const found: CacheEntry = {
        revision: storedRevision,
        ...(identity === undefined
          ? {}
          : { caller: callerOf(identity, deriveSeal(text)) }),
      };
      if (cache.size >= MAX_CACHED) {
        cache.clear();
        hashes.clear();
      }
      cache.set(hash, found);
      if (identity !== undefined) hashes.set(text, hash);
      return found;
    }
    throw new Error("the store returned an outdated revision repeatedly");
  };

  const find = async (
    hash: string,
    text: string,
  ): Promise<Found | undefined> => {
    if (cache.has(hash) && !isFresh()) await refresh();
    let entry = cache.get(hash);
    if (
      entry === undefined || entry.revision !== revision ||
      // The configured key has become another one.
      (entry.caller?.keyId === CONFIGURED_KEY_ID) !== isConfigured(hash)
    ) {
      entry = await load(hash, text);
    }
    const { caller } = entry;
    return caller && {
      caller,
      refusal: refusalOf(identities.get(caller)?.key, now()),
    };
  };

  return {
    async authenticate(presented) {
      let refused: RefusedKey | undefined;
      for (const text of presented.slice(0, MAX_PRESENTED)) {
        const hash = hashes.get(text) ?? keyHash(text);
        // Malformed keys are not looked up.
        if (
          !cache.has(hash) && !isConfigured(hash) && !isWellFormed(text)
        ) continue;
        let found: Found | undefined;
        try {
          found = await find(hash, text);
        } catch (error) {
          throw unavailable(1000, error);
        }
        if (found === undefined) continue;
        const { caller, refusal } = found;
        if (refusal === undefined) return caller;
        refused ??= new RefusedKey(invalidKey(true), caller, refusal);
      }
      if (presented.some((text) => text.startsWith("at-"))) {
        throw tokenInsteadOfKey();
      }
      throw refused ?? invalidKey(presented.length > 0);
    },
    identity(caller) {
      const identity = identities.get(caller);
      if (identity === undefined) {
        throw new Error("the caller was not returned by authenticate()");
      }
      return identity;
    },
    revisionChanged(to) {
      revision = Math.max(revision, to);
    },
  };
}

const FROM_KEY =
  "LEFT JOIN keys k ON k.hash = $1 LEFT JOIN accounts a ON a.id = k.account_id LEFT JOIN plans p ON p.id = a.plan_id WHERE r.id = 1";
const FROM_ACCOUNT =
  "LEFT JOIN accounts a ON a.id = $1 LEFT JOIN keys k ON k.id = '' LEFT JOIN plans p ON p.id = a.plan_id WHERE r.id = 1";

function identityFrom(row: SqlRow): Identity | undefined {
  if (row["account__id"] === null) return undefined;
  const key = row["id"] === null ? undefined : recordFrom(KEY, row);
  const account = recordFrom(ACCOUNT_ROW, row, "account__");
  const plan = recordFrom(PLAN, row, "plan__");
  return {
    ...(key === undefined ? {} : { key }),
    account,
    plan,
    isUnconditional: account.billing === "postpaid" &&
      intOf(row, "purses") === 0 && !hasLimits(plan) &&
      (key === undefined || !hasLimits(key)),
  };
}

/** The configured key has no record and does not expire. */
function refusalOf(
  key: KeyRecord | undefined,
  nowMs: number,
): RefusedKey["reason"] | undefined {
  if (key === undefined) return undefined;
  if (key.revokedAtMs !== undefined) return "key_revoked";
  return key.expiresAtMs !== undefined && nowMs >= key.expiresAtMs
    ? "key_expired"
    : undefined;
}
