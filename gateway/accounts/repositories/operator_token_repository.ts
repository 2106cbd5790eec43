/**
 * Tokens of single operators and of their programs, each with a name, a scope and an end. They are
 * presented instead of the admin token, and what they change is recorded with their name.
 */
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
import { OPERATOR_SCOPES } from "../operator_scope.ts";
import { recordFrom, rowOf } from "../rows/record_rows.ts";
import { displayName, timestamp } from "../values.ts";
import type { ListPage, PageRequest } from "./list_page.ts";
import {
  type IdempotencyKey,
  listById,
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

const SCOPE = oneOf(...OPERATOR_SCOPES);

export const OPERATOR_TOKEN = fields({
  id: field(TEXT),
  name: field(TEXT, {
    describe: "the person or program that has it",
    set: displayName,
    flag: { help: "the person or program that it is for" },
  }),
  scope: field(SCOPE, {
    describe:
      "read: reads everything; keys: keys, account tokens and sign-in links, too; billing: plans, top-ups and accounts' settings, too; administer: everything",
    set: SCOPE.reply,
    flag: { help: OPERATOR_SCOPES.join(", ") },
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

/** An operator token's metadata. */
export interface OperatorTokenRecord extends RecordOf<typeof OPERATOR_TOKEN> {}

export type IssuedOperatorToken = Issued<OperatorTokenRecord>;

/** Issues, verifies, revokes and lists operator tokens. */
export interface OperatorTokenRepository {
  /**
   * Creates a token. Those that ended more than 90 days ago are deleted.
   *
   * @throws {ApiError} `invalid_request` for an expiry in the past or after more than a year
   */
  issue(
    request: SettingsOf<typeof OPERATOR_TOKEN>,
    idempotencyKey?: IdempotencyKey,
  ): Promise<IssuedOperatorToken>;
  /**
   * The token with this text; undefined if it is unknown, revoked or expired.
   *
   * @throws {ApiError} `unavailable`
   */
  verify(text: string): Promise<OperatorTokenRecord | undefined>;
  /**
   * Revokes a token. Revoking it again changes nothing.
   *
   * @throws {ApiError} `not_found`
   */
  revoke(
    id: string,
    idempotencyKey?: IdempotencyKey,
  ): Promise<OperatorTokenRecord>;
  /** Lists the tokens, oldest first. */
  list(page?: PageRequest): Promise<ListPage<OperatorTokenRecord>>;
}

const TOKENS: Parameters<typeof verifyToken<OperatorTokenRecord>>[1] = {
  name: "operator_tokens",
  prefix: "op",
  noun: "operator_token",
  idPrefix: "optoken",
  decode: (row) => recordFrom(OPERATOR_TOKEN, row),
  encode: (record) => rowOf(OPERATOR_TOKEN, record),
  change: (action, before, after) =>
    recordChange(OPERATOR_TOKEN, action, before, after),
};

export function operatorTokenRepository(
  context: RepositoryContext,
): OperatorTokenRepository {
  return {
    issue: (request, idempotencyKey) =>
      issueToken<OperatorTokenRecord>(context, TOKENS, {
        expiresAtMs: request.expiresAtMs,
        idempotencyKey,
        async prepare(sql, nowMs) {
          await sql.all(
            "DELETE FROM operator_tokens WHERE revoked_at_ms < $1 OR expires_at_ms < $1",
            [nowMs - KEPT_MS],
          );
        },
        make: (base) => ({ ...request, ...base }),
      }),
    verify: (text) => verifyToken(context, TOKENS, text),
    revoke: (id, idempotencyKey) =>
      revokeToken(context, TOKENS, id, { idempotencyKey }),
    list: (page = {}) =>
      listById(
        context,
        "operator_tokens",
        page,
        (row) => recordFrom(OPERATOR_TOKEN, row),
      ),
  };
}
