/**
 * Calls under way, as rows of `reservations`: what is held for each, and whose process serves it.
 *
 * @module
 */
import { parsePrice, priceText } from "./money.ts";
import type { OpenCall } from "./records.ts";
import {
  type Dialect,
  insertion,
  insertRows,
  intOf,
  type Sql,
  type SqlRow,
  textOf,
  textOrUndefined,
} from "./store.ts";

/** A call under way, as the books hold it. */
export interface HeldCall {
  /** The call as it was granted. */
  readonly call: OpenCall;
  /** The process that serves it. */
  readonly ownerId: string;
  /** What pays: a model's own balance, or empty for the account's. */
  readonly purse: string;
}

const INTO = insertion("reservations", {
  request_id: "TEXT",
  owner_id: "TEXT",
  account_id: "TEXT",
  key_id: "TEXT",
  model: "TEXT",
  purse: "TEXT",
  user_id: "TEXT",
  input_tokens: "BIGINT",
  max_output_tokens: "BIGINT",
  price: "TEXT",
  reserved_micro_usd: "BIGINT",
  at_ms: "BIGINT",
});

/** Those of the calls that are under way, by request. */
export async function readOpenCalls(
  sql: Sql,
  dialect: Dialect,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, HeldCall>> {
  const rows = await sql.all(
    `SELECT * FROM reservations WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
  return new Map(
    rows.map(heldCallFrom).map((held) => [held.call.requestId, held]),
  );
}

/** Reads one row. */
export function heldCallFrom(row: SqlRow): HeldCall {
  const user = textOrUndefined(row, "user_id");
  return {
    ownerId: textOf(row, "owner_id"),
    purse: textOf(row, "purse"),
    call: {
      requestId: textOf(row, "request_id"),
      accountId: textOf(row, "account_id"),
      keyId: textOf(row, "key_id"),
      model: textOf(row, "model"),
      ...(user === undefined ? {} : { user }),
      inputTokens: intOf(row, "input_tokens"),
      maxOutputTokens: intOf(row, "max_output_tokens"),
      price: parsePrice(textOf(row, "price")),
      reservedMicroUsd: intOf(row, "reserved_micro_usd"),
      atMs: intOf(row, "at_ms"),
    },
  };
}

/** Writes calls that were granted. */
export async function insertOpenCalls(
  sql: Sql,
  dialect: Dialect,
  calls: readonly HeldCall[],
): Promise<void> {
  await insertRows(
    sql,
    dialect,
    INTO,
    calls.map(({ call, ownerId, purse }) => ({
      request_id: call.requestId,
      owner_id: ownerId,
      account_id: call.accountId,
      key_id: call.keyId,
      model: call.model,
      purse,
      user_id: call.user ?? null,
      input_tokens: call.inputTokens,
      max_output_tokens: call.maxOutputTokens,
      price: priceText(call.price),
      reserved_micro_usd: call.reservedMicroUsd,
      at_ms: call.atMs,
    })),
  );
}

/** Takes calls that came to their end off the list. */
export async function deleteOpenCalls(
  sql: Sql,
  dialect: Dialect,
  requestIds: readonly string[],
): Promise<void> {
  if (requestIds.length === 0) return;
  await sql.all(
    `DELETE FROM reservations WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
}
