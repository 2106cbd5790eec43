/**
 * Administration of account tokens: they look at an account and, with the scope `manage`, manage
 * its keys. A token cannot call models. Its text is returned once, when it is issued.
 */
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
import { recordFrom, rowOf } from "../rows/record_rows.ts";
import type { Sql } from "../store/store.ts";
import { displayName, reference, timestamp } from "../values.ts";
import { type ListPage, type PageRequest } from "./list_page.ts";
import {
  type IdempotencyKey,
  listById,
  notFound,
  recordChange,
  type RepositoryContext,
} from "./repository.ts";
import {
  type Issued,
  issueToken,
  KEPT_MS,
  revokeToken,
  verifyToken,
} from "./token_table.ts";

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

export type IssuedToken = Issued<TokenRecord>;

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

const TOKENS: Parameters<typeof verifyToken<TokenRecord>>[1] = {
  name: "account_tokens",
  prefix: "at",
  noun: "token",
  idPrefix: "token",
  decode: (row) => recordFrom(TOKEN, row),
  encode: (record) => rowOf(TOKEN, record),
  change: (action, before, after) => recordChange(TOKEN, action, before, after),
};

export function tokenRepository(context: RepositoryContext): TokenRepository {
  return {
    issue: (request, idempotencyKey) =>
      issueToken<TokenRecord>(context, TOKENS, {
        expiresAtMs: request.expiresAtMs,
        idempotencyKey,
        async prepare(sql, nowMs) {
          await requireAccount(sql, request.accountId);
          await sql.all(
            "DELETE FROM account_tokens WHERE account_id = $1 AND (revoked_at_ms < $2 OR expires_at_ms < $2)",
            [request.accountId, nowMs - KEPT_MS],
          );
        },
        make: (base) => ({ name: "", scope: "read", ...request, ...base }),
      }),
    async verify(text) {
      const token = await verifyToken(context, TOKENS, text);
      return token &&
        { kind: token.scope, id: token.id, accountId: token.accountId };
    },
    revoke: (id, idempotencyKey, accountId) =>
      revokeToken(context, TOKENS, id, {
        idempotencyKey,
        isOwn: (token) =>
          accountId === undefined || token.accountId === accountId,
      }),
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
