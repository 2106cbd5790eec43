/**
 * Administration of account tokens: they look at an account and, with the scope `manage`, manage
 * its keys. A token cannot call models. Its text is returned once, when it is issued.
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { Holder } from "../credential_kind.ts";
import {
  field,
  fields,
  oneOf,
  optional,
  type RecordOf,
  type SettingsOf,
  TEXT,
  TIME,
} from "../field.ts";
import { isWellFormed, keyHash, keyHint, newCredential } from "../key.ts";
import {
  insertRow,
  recordFrom,
  rowOf,
  updateRow,
} from "../rows/record_rows.ts";
import type { Sql } from "../store/store.ts";
import { displayName, reference, timestamp } from "../values.ts";
import { type ListPage, type PageRequest } from "./list_page.ts";
import {
  type Changed,
  type IdempotencyKey,
  listById,
  newId,
  notFound,
  readRows,
  recordChange,
  type RepositoryContext,
  writeOnce,
  writeUse,
} from "./repository.ts";

const SCOPE = oneOf("read", "manage");

export const TOKEN = fields({
  id: field(TEXT),
  accountId: field(TEXT, {
    set: reference,
    flag: { help: "account of the token" },
  }),
  scope: field(SCOPE, {
    describe: "read: looks at the account; manage: manages its keys, too",
    set: SCOPE.reply.optional(),
    flag: { help: "read (the default) or manage" },
  }),
  // May be empty.
  name: field(TEXT, {
    set: displayName.optional(),
    flag: { help: "display name" },
  }),
  hint: field(TEXT, { describe: "first and last characters of the token" }),
  createdAtMs: field(TIME),
  expiresAtMs: field(TIME, {
    set: timestamp.transform((text) => Date.parse(text)).optional().describe(
      "at most a year from now; absent: 90 days from now",
    ),
    flag: { name: "expires", help: "a day, a time, or a duration: 90d" },
  }),
  revokedAtMs: field(optional(TIME)),
  lastUsedAtMs: field(optional(TIME), { describe: "exact to the minute" }),
});

/** An account token's metadata. */
export interface TokenRecord extends RecordOf<typeof TOKEN> {}

type TokenRequest = SettingsOf<typeof TOKEN>;

export interface IssuedToken {
  /** The token's metadata. */
  readonly record: TokenRecord;
  /** The token itself; absent when a request is repeated with its idempotency key. */
  readonly text?: string;
}

/** Issues, verifies, revokes and lists account tokens. */
export interface TokenRepository {
  /**
   * Creates a token. Tokens of the account that ended more than 90 days ago are deleted.
   *
   * @throws {ApiError} `not_found` for the account; `invalid_request` for an expiry in the past or
   * after more than a year
   */
  issue(
    request: TokenRequest,
    idempotencyKey?: IdempotencyKey,
  ): Promise<IssuedToken>;
  /**
   * Verifies a token's text; undefined if it is unknown, revoked or expired.
   *
   * @throws {ApiError} `unavailable`
   */
  verify(text: string): Promise<Holder | undefined>;
  /**
   * Revokes a token; with `accountId` only one of that account. Revoking it again changes nothing.
   *
   * @throws {ApiError} `not_found`
   */
  revoke(
    id: string,
    idempotencyKey?: IdempotencyKey,
    accountId?: string,
  ): Promise<TokenRecord>;
  /** Lists the tokens of one account, or all, oldest first. */
  list(
    page?: PageRequest & { readonly accountId?: string },
  ): Promise<ListPage<TokenRecord>>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_AGE_MS = 90 * DAY_MS;
const MAX_AGE_MS = 366 * DAY_MS;
const MINUTE_MS = 60_000;
/** How long a token that has ended stays in the list. */
const KEPT_MS = 90 * DAY_MS;

export function tokenRepository(context: RepositoryContext): TokenRepository {
  return {
    async issue(request, idempotencyKey) {
      const nowMs = context.now();
      const expiresAtMs = request.expiresAtMs ?? nowMs + DEFAULT_AGE_MS;
      if (expiresAtMs <= nowMs || expiresAtMs > nowMs + MAX_AGE_MS) {
        throw invalidField(
          "expires_at",
          "must be in the future, and at most a year from now",
        );
      }
      return await writeOnce(
        context,
        async (sql): Promise<Changed<IssuedToken>> => {
          await requireAccount(sql, request.accountId);
          const text = newCredential("at");
          const record: TokenRecord = {
            name: "",
            scope: "read",
            ...request,
            expiresAtMs,
            id: newId("token", nowMs),
            hint: keyHint(text),
            createdAtMs: nowMs,
          };
          await sql.all(
            "DELETE FROM account_tokens WHERE account_id = $1 AND (revoked_at_ms < $2 OR expires_at_ms < $2)",
            [request.accountId, nowMs - KEPT_MS],
          );
          await insertRow(sql, "account_tokens", {
            ...rowOf(TOKEN, record),
            hash: keyHash(text),
          });
          const change = recordChange(TOKEN, "token.issue", undefined, record);
          return { reply: { record, text }, changes: [change] };
        },
        idempotencyKey,
        ({ record }) => ({ record }),
      );
    },
    async verify(text) {
      if (!isWellFormed(text, "at")) return undefined;
      const [row] = await readRows(
        context,
        "SELECT * FROM account_tokens WHERE hash = $1",
        [keyHash(text)],
      );
      if (row === undefined) return undefined;
      const token = recordFrom(TOKEN, row);
      const nowMs = context.now();
      if (token.revokedAtMs !== undefined || token.expiresAtMs <= nowMs) {
        return undefined;
      }
      if ((token.lastUsedAtMs ?? 0) + MINUTE_MS <= nowMs) {
        await writeUse(
          context,
          "UPDATE account_tokens SET last_used_at_ms = $2 WHERE id = $1",
          [token.id, nowMs],
        );
      }
      return { kind: token.scope, id: token.id, accountId: token.accountId };
    },
    revoke: (id, idempotencyKey, accountId) =>
      writeOnce(context, async (sql) => {
        const [row] = await sql.all(
          "SELECT * FROM account_tokens WHERE id = $1",
          [id],
        );
        const token = row === undefined ? undefined : recordFrom(TOKEN, row);
        if (
          token === undefined ||
          (accountId !== undefined && token.accountId !== accountId)
        ) throw notFound("token", id);
        if (token.revokedAtMs !== undefined) {
          return { reply: token, changes: [] };
        }
        const revokedAtMs = context.now();
        await updateRow(sql, "account_tokens", id, {
          revoked_at_ms: revokedAtMs,
        });
        const revoked = { ...token, revokedAtMs };
        const change = recordChange(TOKEN, "token.revoke", token, revoked);
        return { reply: revoked, changes: [change] };
      }, idempotencyKey),
    list: (page = {}) =>
      listById(
        context,
        "account_tokens",
        page,
        (row) => recordFrom(TOKEN, row),
      ),
  };
}

/**
 * Checks that an account exists.
 *
 * @throws {ApiError} `not_found`
 */
export async function requireAccount(sql: Sql, id: string): Promise<void> {
  const rows = await sql.all("SELECT id FROM accounts WHERE id = $1", [id]);
  if (rows.length === 0) throw notFound("account", id);
}
