/**
 * Administration of keys: issue, rotate, revoke. The text of a key is returned once, when
 * it is created.
 *
 * @module
 */
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import { keyHash, keyHint, newKey } from "../key.ts";
import { checkModels } from "./plan_repository.ts";
import type { SettingsOf } from "../field.ts";
import { KEY, type KeyRecord } from "../records.ts";
import {
  type IdempotencyKey,
  type ListPage,
  listPage,
  newId,
  notFound,
  pageLimit,
  type PageRequest,
  readRows,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import { insertRow, recordFrom, rowOf } from "../store/record_rows.ts";
import type { Sql } from "../store/store.ts";

/** Settings of a new key. */
export type KeyRequest = SettingsOf<typeof KEY>;

/** A new key. */
export interface IssuedKey {
  /** The key's metadata. */
  readonly record: KeyRecord;
  /**
   * The key itself. Absent when a request is repeated with its idempotency key: the text is
   * not stored.
   */
  readonly text?: string;
}

/** Issues, rotates, revokes and lists keys. */
export interface KeyRepository {
  /**
   * Creates a key.
   *
   * @throws {ApiError} `not_found` for the account; `invalid_request` for an unknown model
   * or an expiry in the past
   */
  issue(
    request: KeyRequest,
    idempotencyKey?: IdempotencyKey,
  ): Promise<IssuedKey>;
  /**
   * Creates a key with the same settings as another, and lets the other expire after
   * `overlapMs`.
   *
   * @throws {ApiError} `not_found`; `conflict` if the other key is revoked or expired
   */
  rotate(
    id: string,
    overlapMs: number,
    idempotencyKey?: IdempotencyKey,
  ): Promise<IssuedKey>;
  /**
   * Revokes a key. Revoking it again changes nothing.
   *
   * @throws {ApiError} `not_found`
   */
  revoke(id: string, idempotencyKey?: IdempotencyKey): Promise<KeyRecord>;
  /**
   * Reads one key.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<KeyRecord>;
  /** Lists the keys of one account, or all, oldest first. */
  list(
    page?: PageRequest & { readonly accountId?: string },
  ): Promise<ListPage<KeyRecord>>;
}

/** Creates the repository. */
export function keyRepository(context: RepositoryContext): KeyRepository {
  return {
    async issue(request, idempotencyKey) {
      checkModels(context, request.models);
      if (
        request.expiresAtMs !== undefined &&
        request.expiresAtMs <= context.now()
      ) throw invalidField("expires_at", "must be in the future");
      return await writeOnce(
        context,
        async (sql) => {
          const rows = await sql.all("SELECT id FROM accounts WHERE id = $1", [
            request.accountId,
          ]);
          if (rows.length === 0) throw notFound("account", request.accountId);
          return await createKey(sql, request, context.now());
        },
        idempotencyKey,
        withoutText,
      );
    },
    rotate: (id, overlapMs, idempotencyKey) =>
      writeOnce(
        context,
        async (sql) => {
          const nowMs = context.now();
          const old = await find(sql, id);
          if (
            old.revokedAtMs !== undefined ||
            (old.expiresAtMs !== undefined && old.expiresAtMs <= nowMs)
          ) {
            throw new ApiError(
              "conflict",
              `the key ${id} is revoked or expired: issue a new one`,
              { code: "key_not_active", retryable: false },
            );
          }
          const endMs = Math.min(
            old.expiresAtMs ?? Infinity,
            nowMs + overlapMs,
          );
          await sql.all("UPDATE keys SET expires_at_ms = $2 WHERE id = $1", [
            id,
            endMs,
          ]);
          const { lastUsedAtMs: _, ...copied } = old;
          return await createKey(sql, { ...copied, replaces: id }, nowMs);
        },
        idempotencyKey,
        withoutText,
      ),
    revoke: (id, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        await sql.all(
          "UPDATE keys SET revoked_at_ms = $2 WHERE id = $1 AND revoked_at_ms IS NULL",
          [id, context.now()],
        );
        return await find(sql, id);
      }, idempotencyKey),
    async get(id) {
      const [row] = await readRows(
        context,
        "SELECT * FROM keys WHERE id = $1",
        [
          id,
        ],
      );
      if (row === undefined) throw notFound("key", id);
      return recordFrom(KEY, row);
    },
    async list(page = {}) {
      const limit = pageLimit(page);
      const { accountId } = page;
      const rows = await readRows(
        context,
        `SELECT * FROM keys WHERE id > $1 ${
          accountId === undefined ? "" : "AND account_id = $3"
        } ORDER BY id LIMIT $2`,
        [
          page.after ?? "",
          limit + 1,
          ...(accountId === undefined ? [] : [accountId]),
        ],
      );
      return listPage(
        rows.map((row) => recordFrom(KEY, row)),
        limit,
        (key) => key.id,
      );
    },
  };
}

/** Creates and inserts a key. Call it inside a write. */
export async function createKey(
  sql: Sql,
  request: KeyRequest & { readonly replaces?: string },
  nowMs: number,
): Promise<IssuedKey> {
  const text = newKey();
  const record: KeyRecord = {
    name: "",
    ...request,
    id: newId("key", nowMs),
    hint: keyHint(text),
    createdAtMs: nowMs,
  };
  await insertRow(sql, "keys", { ...rowOf(KEY, record), hash: keyHash(text) });
  return { record, text };
}

function withoutText(issued: IssuedKey): IssuedKey {
  return { record: issued.record };
}

async function find(sql: Sql, id: string): Promise<KeyRecord> {
  const [row] = await sql.all("SELECT * FROM keys WHERE id = $1", [id]);
  if (row === undefined) throw notFound("key", id);
  return recordFrom(KEY, row);
}
