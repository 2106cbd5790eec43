/**
 * The keys: issuing, replacing and revoking them. A key's text leaves here once, when it is made.
 *
 * @module
 */
import { ApiError, invalidField } from "../../translate/error.ts";
import { keyHash, keyHint, newKey } from "./key.ts";
import { insertKey, keyFrom } from "./key_rows.ts";
import { checkModels } from "./plan_register.ts";
import type { KeyRecord } from "./records.ts";
import {
  change,
  look,
  newId,
  notFound,
  type Once,
  type Page,
  pageLimit,
  pageOf,
  type PageRequest,
  type RegisterContext,
} from "./register.ts";
import type { Sql } from "./store.ts";

/** What a new key is to be. */
export interface KeyRequest {
  /** Whose it is. */
  readonly accountId: string;
  /** For people. */
  readonly name?: string;
  /** A part of the plan's models; absent: all of them, also later ones. */
  readonly models?: readonly string[];
  /** From then on it is refused; absent: never. */
  readonly expiresAtMs?: number;
}

/** A key just made. */
export interface IssuedKey {
  /** What may be shown of it. */
  readonly record: KeyRecord;
  /** The key itself. Absent when the same request is answered again: it is kept nowhere. */
  readonly text?: string;
}

/** The keys. */
export interface KeyRegister {
  /**
   * Makes a key.
   *
   * @throws {ApiError} `not_found` for the account; `invalid_request` for an unknown model or an expiry in the past
   */
  issue(request: KeyRequest, once?: Once): Promise<IssuedKey>;
  /**
   * Makes a key that replaces another, with the same rights; the old one works for `overlapMs` longer.
   *
   * @throws {ApiError} `not_found`; `conflict` when the old one does not work any more
   */
  rotate(id: string, overlapMs: number, once?: Once): Promise<IssuedKey>;
  /** Revokes a key. Doing so again changes nothing. @throws {ApiError} `not_found` */
  revoke(id: string, once?: Once): Promise<KeyRecord>;
  /**
   * Finds a key.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<KeyRecord>;
  /** The keys of an account, or of all, oldest first. */
  list(
    page?: PageRequest & { readonly accountId?: string },
  ): Promise<Page<KeyRecord>>;
}

/** Opens the register. */
export function keyRegister(context: RegisterContext): KeyRegister {
  return {
    async issue(request, once) {
      checkModels(context, request.models);
      if (
        request.expiresAtMs !== undefined &&
        request.expiresAtMs <= context.now()
      ) throw invalidField("expires_at", "expected a time to come");
      return await change(
        context,
        async (sql) => {
          const rows = await sql.all("SELECT id FROM accounts WHERE id = $1", [
            request.accountId,
          ]);
          if (rows.length === 0) throw notFound("account", request.accountId);
          return await make(sql, request, context.now());
        },
        once,
        withoutText,
      );
    },
    rotate: (id, overlapMs, once) =>
      change(
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
              `the key ${id} does not work any more: issue a new one`,
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
          return await make(sql, { ...old, replaces: id }, nowMs);
        },
        once,
        withoutText,
      ),
    revoke: (id, once) =>
      change(context, async (sql) => {
        await sql.all(
          "UPDATE keys SET revoked_at_ms = $2 WHERE id = $1 AND revoked_at_ms IS NULL",
          [id, context.now()],
        );
        return await find(sql, id);
      }, once),
    async get(id) {
      const [row] = await look(context, "SELECT * FROM keys WHERE id = $1", [
        id,
      ]);
      if (row === undefined) throw notFound("key", id);
      return keyFrom(row);
    },
    async list(page = {}) {
      const limit = pageLimit(page);
      const { accountId } = page;
      const rows = await look(
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
      return pageOf(rows.map(keyFrom), limit, (key) => key.id);
    },
  };
}

/** Makes a key and writes it. To be called inside a write. */
export async function make(
  sql: Sql,
  request: KeyRequest & { readonly replaces?: string },
  nowMs: number,
): Promise<IssuedKey> {
  const text = newKey();
  const record: KeyRecord = {
    id: newId("key", nowMs),
    accountId: request.accountId,
    name: request.name ?? "",
    hint: keyHint(text),
    ...(request.models === undefined ? {} : { models: request.models }),
    createdAtMs: nowMs,
    ...(request.expiresAtMs === undefined
      ? {}
      : { expiresAtMs: request.expiresAtMs }),
    ...(request.replaces === undefined ? {} : { replaces: request.replaces }),
  };
  await insertKey(sql, record, keyHash(text));
  return { record, text };
}

function withoutText(issued: IssuedKey): IssuedKey {
  return { record: issued.record };
}

async function find(sql: Sql, id: string): Promise<KeyRecord> {
  const [row] = await sql.all("SELECT * FROM keys WHERE id = $1", [id]);
  if (row === undefined) throw notFound("key", id);
  return keyFrom(row);
}
