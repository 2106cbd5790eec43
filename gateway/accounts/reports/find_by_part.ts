/**
 * Finds accounts, keys, end users and calls by any part of their names and ids. Each list is read
 * from a bounded number of rows, so that the time does not grow with the books.
 */
import { isWellFormed, keyHint } from "../key.ts";
import { type SqlValue, textOf } from "../store/store.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";

/** Whose records are searched; without an account those of all. */
export interface FindScope {
  readonly accountId?: string;
  /** Calls and end users of this key only, and no keys. */
  readonly keyId?: string;
}

/** What was found, at most {@linkcode MOST_FOUND} of each. */
export interface Found {
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly keys: readonly FoundKey[];
  readonly users: readonly {
    readonly accountId: string;
    readonly user: string;
  }[];
  readonly calls: readonly string[];
}

interface FoundKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly accountId: string;
}

/** Items of each list. */
export const MOST_FOUND = 20;
/** Most accounts, and most keys, that a search reads. */
export const MAX_SEARCHED = 20_000;
/** Most calls that a search reads, the newest; fewer of one account, as its index is slower. */
export const SEARCHED_CALLS = { all: 50_000, account: 10_000 } as const;

/**
 * Finds what contains a text, whatever its case. A whole key is found by its hint, and `…` in the
 * text is any text.
 *
 * @throws {ApiError} `unavailable`
 */
export async function findByPart(
  context: RepositoryContext,
  text: string,
  scope: FindScope = {},
): Promise<Found> {
  const part = text.trim();
  if (part === "") return { accounts: [], keys: [], users: [], calls: [] };
  const [accounts, keys, users, calls] = await Promise.all([
    scope.accountId === undefined ? findAccounts(context, part) : [],
    scope.keyId === undefined
      ? findKeys(
        context,
        isWellFormed(part, "sk") ? keyHint(part) : part,
        scope.accountId,
      )
      : [],
    findUsers(context, part, scope),
    findCalls(context, part, scope),
  ]);
  return { accounts, keys, users, calls };
}

/** Accounts by a part of their id or name. */
async function findAccounts(
  context: RepositoryContext,
  part: string,
): Promise<Found["accounts"]> {
  const rows = await readReport(
    context,
    `SELECT id, name FROM (SELECT id, name FROM accounts ORDER BY id LIMIT ${MAX_SEARCHED}) a ` +
      `WHERE ${contains("id")} OR ${
        contains("name")
      } ORDER BY id LIMIT ${MOST_FOUND}`,
    [pattern(part)],
  );
  return rows.map((row) => ({
    id: textOf(row, "id"),
    name: textOf(row, "name"),
  }));
}

/** Keys by a part of their id, name or hint, newest first. */
async function findKeys(
  context: RepositoryContext,
  part: string,
  accountId?: string,
): Promise<readonly FoundKey[]> {
  const rows = await readReport(
    context,
    `SELECT id, name, hint, account_id FROM (SELECT id, name, hint, account_id FROM keys ${
      accountId === undefined ? "" : "WHERE account_id = $2 "
    }ORDER BY id DESC LIMIT ${MAX_SEARCHED}) k WHERE ${contains("id")} OR ${
      contains("name")
    } OR ${contains("hint")} ORDER BY id DESC LIMIT ${MOST_FOUND}`,
    [pattern(part), ...(accountId === undefined ? [] : [accountId])],
  );
  return rows.map((row) => ({
    id: textOf(row, "id"),
    name: textOf(row, "name"),
    hint: textOf(row, "hint"),
    accountId: textOf(row, "account_id"),
  }));
}

/** The newest calls of the scope, as a table `c`. */
function newestCalls(
  columns: string,
  { accountId, keyId }: FindScope,
): { readonly table: string; readonly values: readonly SqlValue[] } {
  const [condition, values, count] = keyId !== undefined
    ? ["key_id = $2 AND ", [keyId], SEARCHED_CALLS.account] as const
    : accountId !== undefined
    ? ["account_id = $2 AND ", [accountId], SEARCHED_CALLS.account] as const
    : ["", [], SEARCHED_CALLS.all] as const;
  return {
    table:
      `(SELECT ${columns} FROM calls WHERE ${condition}request_id < 'req_~' ORDER BY request_id DESC LIMIT ${count}) c`,
    values,
  };
}

async function findUsers(
  context: RepositoryContext,
  part: string,
  scope: FindScope,
): Promise<Found["users"]> {
  const { table, values } = newestCalls(
    "account_id, user_id, request_id",
    scope,
  );
  const rows = await readReport(
    context,
    `SELECT account_id, user_id, MAX(request_id) AS newest FROM ${table} WHERE ${
      contains("user_id")
    } GROUP BY account_id, user_id ORDER BY newest DESC LIMIT ${MOST_FOUND}`,
    [pattern(part), ...values],
  );
  return rows.map((row) => ({
    accountId: textOf(row, "account_id"),
    user: textOf(row, "user_id"),
  }));
}

async function findCalls(
  context: RepositoryContext,
  part: string,
  scope: FindScope,
): Promise<readonly string[]> {
  // Other characters occur in no request id, and the prefix `req_` in every one.
  if (
    !/^[0-9A-Za-z_]{2,}…?[0-9A-Za-z_]{2,}$/.test(part) ||
    "req_".startsWith(part)
  ) return [];
  const { table, values } = newestCalls("request_id", scope);
  const rows = await readReport(
    context,
    `SELECT request_id FROM ${table} WHERE request_id LIKE $1 ESCAPE '!' ORDER BY request_id DESC LIMIT ${MOST_FOUND}`,
    [`%${escapePattern(part)}%`, ...values],
  );
  return rows.map((row) => textOf(row, "request_id"));
}

/** Whether a column contains the part whose {@linkcode pattern} is a parameter, as SQL. */
export function contains(column: string, parameter: string = "$1"): string {
  return `LOWER(${column}) LIKE ${parameter} ESCAPE '!'`;
}

export function pattern(part: string): string {
  return `%${escapePattern(part.toLowerCase())}%`;
}

/** What a hint leaves out may be anything: a whole id or key is found by its hint. */
function escapePattern(text: string): string {
  return text.replaceAll(/[!%_]/g, "!$&").replaceAll("…", "%").replaceAll(
    "\0",
    "",
  );
}
