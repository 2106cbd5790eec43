/**
 * Shared by the repositories: a change is one write that increments the revision and is
 * applied once per idempotency key.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { ApiError } from "../../../translate/model/error.ts";
import {
  type Action,
  type Actor,
  type Change,
  difference,
  GATEWAY,
} from "../changes/change.ts";
import { type RecordFields, recordJson, type RecordOf } from "../field.ts";
import { insertChanges } from "../rows/change_rows.ts";
import { unavailable } from "../ledger/write_batcher.ts";
import { randomText } from "../key.ts";
import {
  type ListPage,
  listPage,
  type OrderedPage,
  pageLimit,
} from "./list_page.ts";
import {
  intOf,
  type Sql,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
} from "../store/store.ts";

export interface RepositoryContext {
  /** The store with plans, accounts and keys. */
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /** Called after every change, with the new revision. */
  readonly onChange: (revision: number) => void;
  /** Whether a model exists; lists of models are checked with it. */
  readonly knowsModel: (model: string) => boolean;
  /** Who makes the changes; absent: the gateway itself. */
  readonly actor?: Actor;
}

/** What a write returns, and what it changed. */
export interface Changed<T> {
  /** Result of the write. */
  readonly reply: T;
  /** Recorded in the same write; empty if everything was so already. */
  readonly changes: readonly Change[];
  /** Known only inside the write, such as the holder of a code; absent: the context's actor. */
  readonly actor?: Pick<Actor, "kind" | "id" | "session">;
}

/** Makes a change idempotent: repeated with the same key it is applied once. */
export interface IdempotencyKey {
  /** The client's unique key for this request. */
  readonly key: string;
  /** Hash of the request: the same key with another request is refused. */
  readonly fingerprint: string;
}

/** How long replies are stored for their idempotency key. */
const REPLY_RETENTION_MS = 24 * 60 * 60 * 1000;

/**
 * Applies a change of what processes do not cache, such as sessions.
 *
 * @throws {ApiError} from `work`; `unavailable`
 */
export function writeChange<T>(
  context: RepositoryContext,
  work: (sql: Sql) => Promise<Changed<T>>,
): Promise<T> {
  return orUnavailable(() =>
    context.store.write((sql) => recordIn(context, sql, work))
  );
}

/** Runs a change and records it, inside one write. */
async function recordIn<T>(
  { actor = GATEWAY, now }: RepositoryContext,
  sql: Sql,
  work: (sql: Sql) => Promise<Changed<T>>,
): Promise<T> {
  const { reply, changes, actor: found } = await work(sql);
  await insertChanges(sql, { ...actor, ...found }, now(), changes);
  return reply;
}

/**
 * Writes what is no change of anybody's, such as the time of the last use.
 *
 * @throws {ApiError} `unavailable`
 */
export async function writeUse(
  context: RepositoryContext,
  text: string,
  values: readonly SqlValue[],
): Promise<void> {
  await orUnavailable(() =>
    context.store.write((sql) => sql.all(text, values))
  );
}

/**
 * Applies a change. With `idempotencyKey` its reply is stored, after `withoutSecrets` has
 * removed secrets from it.
 *
 * @throws {ApiError} from `work`; `conflict` if the idempotency key was used for another
 * request; `unavailable`
 */
export async function writeOnce<T>(
  context: RepositoryContext,
  work: (sql: Sql) => Promise<Changed<T>>,
  idempotencyKey?: IdempotencyKey,
  withoutSecrets: (reply: T) => T = (reply) => reply,
): Promise<T> {
  const nowMs = context.now();
  const outcome = await orUnavailable(() =>
    context.store.write(async (sql): Promise<WriteOutcome<T>> => {
      if (idempotencyKey !== undefined) {
        const before = await storedReply(sql, idempotencyKey, nowMs);
        // The text is a serialised T, written below.
        if (before !== undefined) return { reply: JSON.parse(before) as T };
      }
      const reply = await recordIn(context, sql, work);
      const [row] = await sql.all(
        "UPDATE revision SET value = value + 1 WHERE id = 1 RETURNING value",
      );
      if (idempotencyKey !== undefined) {
        await sql.all(
          "INSERT INTO answers (idempotency_key, fingerprint, answer, at_ms) VALUES ($1, $2, $3, $4)",
          [
            idempotencyKey.key,
            idempotencyKey.fingerprint,
            JSON.stringify(withoutSecrets(reply)),
            nowMs,
          ],
        );
      }
      return {
        reply,
        ...(row && { revision: intOf(row, "value") }),
      };
    })
  );
  if (outcome.revision !== undefined) context.onChange(outcome.revision);
  return outcome.reply;
}

interface WriteOutcome<T> {
  readonly reply: T;
  /** Absent if a stored reply was returned and nothing changed. */
  readonly revision?: number;
}

async function storedReply(
  sql: Sql,
  idempotencyKey: IdempotencyKey,
  nowMs: number,
): Promise<string | undefined> {
  await sql.all("DELETE FROM answers WHERE at_ms < $1", [
    nowMs - REPLY_RETENTION_MS,
  ]);
  const [row] = await sql.all(
    "SELECT fingerprint, answer FROM answers WHERE idempotency_key = $1",
    [idempotencyKey.key],
  );
  if (row === undefined) return undefined;
  if (textOf(row, "fingerprint") !== idempotencyKey.fingerprint) {
    throw new ApiError(
      "conflict",
      "the idempotency key was used for a different request",
      { code: "idempotency_key_reused", retryable: false },
    );
  }
  return textOf(row, "answer");
}

/**
 * Reads rows.
 *
 * @throws {ApiError} `unavailable` if the store does not answer
 */
export function readRows(
  context: RepositoryContext,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly SqlRow[]> {
  return orUnavailable(() => context.store.read(text, values));
}

/**
 * Reads rows for a report, which may be behind the writes.
 *
 * @throws {ApiError} `unavailable`
 */
export function readReport(
  { store }: Pick<RepositoryContext, "store">,
  text: string,
  values?: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  return orUnavailable(() => store.report(text, values));
}

/**
 * Runs an operation of the store.
 *
 * @throws {ApiError} from `work`; `unavailable` if the store does not answer
 */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? error : unavailable(1000, error);
  }
}

/** Reads outside of a write, as {@linkcode readRows} does. */
export function readerOf(context: RepositoryContext): Sql {
  return { all: (text, values) => readRows(context, text, values) };
}

/** The change of a record; without `before` it is new. */
export function recordChange<D extends RecordFields>(
  fields: D,
  action: Action,
  before: RecordOf<D> | undefined,
  after: RecordOf<D> & { readonly id: string; readonly accountId?: string },
): Change {
  return {
    action,
    target: after.id,
    ...compact({ accountId: after.accountId }),
    ...difference(
      before && recordJson(fields, before),
      recordJson(fields, after),
    ),
  };
}

export function notFound(noun: string, id: string): ApiError {
  return new ApiError("not_found", `there is no ${noun} ${id}`, {
    code: `${noun}_not_found`,
    retryable: false,
  });
}

export function alreadyExists(noun: string, id: string): ApiError {
  return new ApiError("conflict", `id: the ${noun} ${id} exists already`, {
    code: `${noun}_exists`,
    retryable: false,
  });
}

/**
 * Reads a page of a table by id, of one account or of all.
 *
 * @throws {ApiError} `unavailable`
 */
export async function listById<T extends { readonly id: string }>(
  context: RepositoryContext,
  table:
    | "accounts"
    | "audits"
    | "plans"
    | "keys"
    | "account_tokens"
    | "operator_tokens",
  page: OrderedPage,
  decode: (row: SqlRow) => T,
): Promise<ListPage<T>> {
  const limit = pageLimit(page);
  const { accountId, after, newestFirst = false } = page;
  const { where, values } = conditionsOf([
    [`id ${newestFirst ? "<" : ">"}`, after],
    ["account_id =", accountId],
  ]);
  const order = newestFirst ? "DESC" : "ASC";
  const rows = await readRows(
    context,
    `SELECT * FROM ${table} WHERE ${where} ORDER BY id ${order} LIMIT $${
      values.length + 1
    }`,
    [...values, limit + 1],
  );
  return listPage(rows.map(decode), limit, ({ id }) => id);
}

/** The conditions that have a value, as SQL; each ends before its value. */
export function conditionsOf(
  conditions: readonly (readonly [string, SqlValue | undefined])[],
): { readonly where: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = [];
  const texts = conditions.flatMap(([left, value]) =>
    value === undefined ? [] : [`${left} $${values.push(value)}`]
  );
  return { where: texts.join(" AND ") || "TRUE", values };
}

/** A new id. Ids sort by creation time, and so do lists. */
export function newId(
  prefix: string,
  nowMs: number,
  randomChars: number = 12,
): string {
  const time = nowMs.toString(36).padStart(9, "0");
  return `${prefix}_${time}${randomText(randomChars)}`;
}
