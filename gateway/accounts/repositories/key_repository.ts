/**
 * Administration of keys: issue, rotate, revoke. The text of a key is returned once, when
 * it is created.
 */
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import { keyHash, keyHint, newKey } from "../key.ts";
import { checkModels } from "./plan_repository.ts";
import { type Change } from "../changes/change.ts";
import { type SettingsOf } from "../field.ts";
import { usdText } from "../charges/money.ts";
import {
  KEY,
  type KEY_CHANGES,
  type KeyRecord,
  LIMIT_NAMES,
  LIMITS,
  PLAN,
  type Plan,
} from "../records.ts";
import { requireAccount } from "./token_repository.ts";
import { type ListPage, type OrderedPage } from "./list_page.ts";
import {
  type IdempotencyKey,
  listById,
  newId,
  notFound,
  readerOf,
  readRows,
  recordChange,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import { copyUse, limitsChanged } from "../rows/key_state_rows.ts";
import {
  insertRow,
  recordFrom,
  rowOf,
  updateRow,
} from "../rows/record_rows.ts";
import { type Sql, textOf } from "../store/store.ts";

type KeyRequest = SettingsOf<typeof KEY>;

/** Changes of a key. Null means no limit; absent means unchanged. */
export type KeySettings = SettingsOf<typeof KEY_CHANGES>;

export interface IssuedKey {
  /** The key's metadata. */
  readonly record: KeyRecord;
  /**
   * The key itself. Absent when a request is repeated with its idempotency key: the text is
   * not stored.
   */
  readonly text?: string;
}

/** Issues, changes, rotates, revokes and lists keys. */
export interface KeyRepository {
  /**
   * Creates a key.
   *
   * @throws {ApiError} `not_found` for the account; `invalid_request` for an unknown model,
   * an expiry in the past or a limit above the plan's
   */
  issue(
    request: KeyRequest,
    idempotencyKey?: IdempotencyKey,
  ): Promise<IssuedKey>;
  /**
   * Changes the name and the limits of a key.
   *
   * @throws {ApiError} `not_found`; `invalid_request` for a limit above the plan's
   */
  update(
    id: string,
    settings: KeySettings,
    idempotencyKey?: IdempotencyKey,
  ): Promise<KeyRecord>;
  /**
   * Creates a key with the same settings as another, and lets the other expire after
   * `overlapMs`. What the other has used of its limits counts for the new one too.
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
   * Revokes every key of an account that is not revoked yet. Returns how many.
   *
   * @throws {ApiError} `not_found` for the account
   */
  revokeAll(
    accountId: string,
    idempotencyKey?: IdempotencyKey,
  ): Promise<{ readonly revoked: number }>;
  /**
   * Reads one key.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<KeyRecord>;
  /** Names of keys by their id, or hints of those without a name; unknown ids are absent. */
  names(
    ids: readonly string[],
    scope?: { readonly accountId?: string },
  ): Promise<ReadonlyMap<string, string>>;
  /** Lists the keys of one account, or all. */
  list(page?: OrderedPage): Promise<ListPage<KeyRecord>>;
}

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
          await sql.lockAccounts?.([request.accountId]);
          const plan = await planOf(sql, request.accountId);
          if (plan === undefined) throw notFound("account", request.accountId);
          checkLimits(request, plan);
          const issued = await createKey(sql, request, context.now());
          await limitsChanged(sql, issued.record, context.now());
          return { reply: issued, changes: [issuedChange(issued.record)] };
        },
        idempotencyKey,
        withoutText,
      );
    },
    update: (id, settings, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        const before = await lockKey(sql, id);
        const plan = await planOf(sql, before.accountId);
        checkLimits(settings, plan ?? {});
        await updateRow(sql, "keys", id, rowOf(KEY, settings));
        const after = await find(sql, id);
        await limitsChanged(sql, after, context.now());
        const change = recordChange(KEY, "key.update", before, after);
        return { reply: after, changes: [change] };
      }, idempotencyKey),
    rotate: (id, overlapMs, idempotencyKey) =>
      writeOnce(
        context,
        async (sql) => {
          const nowMs = context.now();
          const old = await lockKey(sql, id);
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
          await updateRow(sql, "keys", id, { expires_at_ms: endMs });
          const { lastUsedAtMs: _, ...copied } = old;
          const successor = { ...copied, replaces: id };
          const issued = await createKey(sql, successor, nowMs);
          await copyUse(sql, context.store.dialect, id, issued.record.id);
          const ended = await find(sql, id);
          const change = recordChange(KEY, "key.rotate", old, ended);
          return {
            reply: issued,
            changes: [change, issuedChange(issued.record)],
          };
        },
        idempotencyKey,
        withoutText,
      ),
    revoke: (id, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        const before = await lockKey(sql, id);
        if (before.revokedAtMs !== undefined) {
          return { reply: before, changes: [] };
        }
        await updateRow(sql, "keys", id, { revoked_at_ms: context.now() });
        const after = await find(sql, id);
        const change = recordChange(KEY, "key.revoke", before, after);
        return { reply: after, changes: [change] };
      }, idempotencyKey),
    revokeAll: (accountId, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        await sql.lockAccounts?.([accountId]);
        await requireAccount(sql, accountId);
        const rows = await sql.all(
          "SELECT * FROM keys WHERE account_id = $1 AND revoked_at_ms IS NULL",
          [accountId],
        );
        const revokedAtMs = context.now();
        await sql.all(
          "UPDATE keys SET revoked_at_ms = $2 WHERE account_id = $1 AND revoked_at_ms IS NULL",
          [accountId, revokedAtMs],
        );
        const changes = rows.map((row) => {
          const before = recordFrom(KEY, row);
          const after = { ...before, revokedAtMs };
          return recordChange(KEY, "key.revoke", before, after);
        });
        return { reply: { revoked: changes.length }, changes };
      }, idempotencyKey),
    get: (id) => find(readerOf(context), id),
    async names(ids, { accountId } = {}) {
      if (ids.length === 0) return new Map();
      const rows = await readRows(
        context,
        `SELECT id, name, hint FROM keys WHERE id IN ${
          context.store.dialect.texts(1)
        } ${accountId === undefined ? "" : "AND account_id = $2"}`,
        [JSON.stringify(ids), ...(accountId === undefined ? [] : [accountId])],
      );
      return new Map(rows.map((row) => {
        const name = textOf(row, "name");
        return [textOf(row, "id"), name === "" ? textOf(row, "hint") : name];
      }));
    },
    list: (page = {}) =>
      listById(context, "keys", page, (row) => recordFrom(KEY, row)),
  };
}

/** Creates and inserts a key. Call it inside a write. */
export async function createKey(
  sql: Sql,
  request: KeyRequest & { readonly replaces?: string },
  nowMs: number,
): Promise<IssuedKey> {
  const text = newKey();
  const id = newId("key", nowMs);
  const record = {
    name: "",
    ...request,
    id,
    hint: keyHint(text),
    createdAtMs: nowMs,
  };
  await insertRow(sql, "keys", { ...rowOf(KEY, record), hash: keyHash(text) });
  return { record: await find(sql, id), text };
}

async function planOf(sql: Sql, accountId: string): Promise<Plan | undefined> {
  const [row] = await sql.all(
    "SELECT p.* FROM accounts a JOIN plans p ON p.id = a.plan_id WHERE a.id = $1",
    [accountId],
  );
  return row === undefined ? undefined : recordFrom(PLAN, row);
}

/**
 * Checks that no limit is above the plan's own: it would have no effect. A plan that is
 * lowered later still applies beside the limits of its keys.
 */
function checkLimits(settings: KeySettings, plan: Partial<Plan>): void {
  for (const name of LIMIT_NAMES) {
    const { json } = LIMITS[name];
    const [own, most] = [settings[name] ?? 0, plan[name]];
    if (most === undefined || own <= most) continue;
    throw invalidField(
      json,
      `must be at most the plan's limit of ${
        json.endsWith("_usd") ? usdText(most) : most
      }`,
    );
  }
}

export function issuedChange(record: KeyRecord): Change {
  return recordChange(KEY, "key.issue", undefined, record);
}

function withoutText(issued: IssuedKey): IssuedKey {
  return { record: issued.record };
}

/** The key, with the lock of its account. A key never moves to another. */
async function lockKey(sql: Sql, id: string): Promise<KeyRecord> {
  const { accountId } = await find(sql, id);
  await sql.lockAccounts?.([accountId]);
  return await find(sql, id);
}

async function find(sql: Sql, id: string): Promise<KeyRecord> {
  const [row] = await sql.all("SELECT * FROM keys WHERE id = $1", [id]);
  if (row === undefined) throw notFound("key", id);
  return recordFrom(KEY, row);
}
