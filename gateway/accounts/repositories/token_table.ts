/**
 * Tokens whose hashes are in a table. The text of a token is in the reply to its issue alone.
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { Action, Change } from "../changes/change.ts";
import {
  type CredentialPrefix,
  isWellFormed,
  keyHash,
  keyHint,
  newCredential,
} from "../key.ts";
import { insertRow, updateRow } from "../rows/record_rows.ts";
import type { Sql, SqlRow, SqlValue } from "../store/store.ts";
import {
  type IdempotencyKey,
  newId,
  notFound,
  readRows,
  recordChange,
  type RepositoryContext,
  writeOnce,
  writeUse,
} from "./repository.ts";

/** What the records of all tokens have. */
interface StoredToken {
  readonly id: string;
  readonly hint: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs?: number;
  readonly lastUsedAtMs?: number;
}

/** A kind of token. */
interface TokenTable<T extends StoredToken> {
  readonly name: "account_tokens" | "operator_tokens";
  readonly prefix: CredentialPrefix;
  /** Also the beginning of the names of its changes. */
  readonly noun: "token" | "operator_token";
  /** The beginning of ids. */
  readonly idPrefix: string;
  readonly decode: (row: SqlRow) => T;
  readonly encode: (record: T) => Readonly<Record<string, SqlValue>>;
  readonly change: (
    action: Action,
    before: T | undefined,
    after: T,
  ) => ReturnType<typeof recordChange>;
}

export interface Issued<T> {
  /** The token's metadata. */
  readonly record: T;
  /** The token itself; absent when a request is repeated with its idempotency key. */
  readonly text?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_AGE_MS = 90 * DAY_MS;
const MAX_AGE_MS = 366 * DAY_MS;
const MINUTE_MS = 60_000;
/** How long a token that has ended stays in the list. */
export const KEPT_MS: number = 90 * DAY_MS;

/**
 * Issues a token. `prepare` runs first, in the same write.
 *
 * @throws {ApiError} of `prepare`; `invalid_request` for an expiry in the past or after more than a
 * year
 */
export async function issueToken<T extends StoredToken>(
  context: RepositoryContext,
  table: TokenTable<T>,
  { expiresAtMs, make, prepare, idempotencyKey }: {
    readonly expiresAtMs: number | undefined;
    readonly make: (base: StoredToken) => T;
    readonly prepare: (sql: Sql, nowMs: number) => Promise<void>;
    readonly idempotencyKey: IdempotencyKey | undefined;
  },
): Promise<Issued<T>> {
  const nowMs = context.now();
  const endMs = expiresAtMs ?? nowMs + DEFAULT_AGE_MS;
  if (endMs <= nowMs || endMs > nowMs + MAX_AGE_MS) {
    throw invalidField(
      "expires_at",
      "must be in the future, and at most a year from now",
    );
  }
  return await writeOnce<Issued<T>>(
    context,
    async (sql) => {
      await prepare(sql, nowMs);
      const text = newCredential(table.prefix);
      const record = make({
        id: newId(table.idPrefix, nowMs),
        hint: keyHint(text),
        createdAtMs: nowMs,
        expiresAtMs: endMs,
      });
      await insertRow(sql, table.name, {
        ...table.encode(record),
        hash: keyHash(text),
      });
      const changes: readonly Change[] = [
        table.change(`${table.noun}.issue`, undefined, record),
      ];
      return { reply: { record, text }, changes };
    },
    idempotencyKey,
    ({ record }) => ({ record }),
  );
}

/**
 * The token with this text; undefined if it is unknown, revoked or expired.
 *
 * @throws {ApiError} `unavailable`
 */
export async function verifyToken<T extends StoredToken>(
  context: RepositoryContext,
  { name, prefix, decode }: TokenTable<T>,
  text: string,
): Promise<T | undefined> {
  if (!isWellFormed(text, prefix)) return undefined;
  const [row] = await readRows(
    context,
    `SELECT * FROM ${name} WHERE hash = $1`,
    [keyHash(text)],
  );
  if (row === undefined) return undefined;
  const token = decode(row);
  const nowMs = context.now();
  if (token.revokedAtMs !== undefined || token.expiresAtMs <= nowMs) {
    return undefined;
  }
  if ((token.lastUsedAtMs ?? 0) + MINUTE_MS <= nowMs) {
    await writeUse(
      context,
      `UPDATE ${name} SET last_used_at_ms = $2 WHERE id = $1`,
      [token.id, nowMs],
    );
  }
  return token;
}

/**
 * Revokes a token, if `isOwn`. Revoking it again changes nothing.
 *
 * @throws {ApiError} `not_found`
 */
export function revokeToken<T extends StoredToken>(
  context: RepositoryContext,
  { name, noun, decode, change }: TokenTable<T>,
  id: string,
  { idempotencyKey, isOwn = () => true }: {
    readonly idempotencyKey: IdempotencyKey | undefined;
    readonly isOwn?: (token: T) => boolean;
  },
): Promise<T> {
  return writeOnce(context, async (sql) => {
    const [row] = await sql.all(`SELECT * FROM ${name} WHERE id = $1`, [id]);
    const token = row === undefined ? undefined : decode(row);
    if (token === undefined || !isOwn(token)) {
      throw notFound(noun.replace("_", " "), id);
    }
    if (token.revokedAtMs !== undefined) return { reply: token, changes: [] };
    const revokedAtMs = context.now();
    await updateRow(sql, name, id, { revoked_at_ms: revokedAtMs });
    const revoked = { ...token, revokedAtMs };
    return {
      reply: revoked,
      changes: [change(`${noun}.revoke`, token, revoked)],
    };
  }, idempotencyKey);
}
