/**
 * Reads and writes reservations: rows of `reservations`, one per active call.
 *
 * @module
 */
import { parsePrice, priceText } from "../ledger/money.ts";
import type { ReservedCall } from "../records.ts";
import {
  insertRows,
  insertStatement,
  intOf,
  type Sql,
  type SqlDialect,
  type SqlRow,
  textOf,
  textOrUndefined,
} from "./store.ts";

export interface StoredReservation {
  /** The call as granted. */
  readonly call: ReservedCall;
  /** Lease id of the process that serves the call. */
  readonly leaseId: string;
  /** Model whose own balance pays; empty: the account's balance. */
  readonly balanceModel: string;
}

const INTO = insertStatement("reservations", {
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

/** Those of the calls that have a reservation, by request id. */
export async function readReservations(
  sql: Sql,
  dialect: SqlDialect,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, StoredReservation>> {
  const rows = await sql.all(
    `SELECT * FROM reservations WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
  return new Map(
    rows.map(reservationFrom).map((
      reservation,
    ) => [reservation.call.requestId, reservation]),
  );
}

/** Reads one row. */
export function reservationFrom(row: SqlRow): StoredReservation {
  const user = textOrUndefined(row, "user_id");
  return {
    leaseId: textOf(row, "owner_id"),
    balanceModel: textOf(row, "purse"),
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

export async function insertReservations(
  sql: Sql,
  dialect: SqlDialect,
  calls: readonly StoredReservation[],
): Promise<void> {
  await insertRows(
    sql,
    dialect,
    INTO,
    calls.map(({ call, leaseId, balanceModel }) => ({
      request_id: call.requestId,
      owner_id: leaseId,
      account_id: call.accountId,
      key_id: call.keyId,
      model: call.model,
      purse: balanceModel,
      user_id: call.user ?? null,
      input_tokens: call.inputTokens,
      max_output_tokens: call.maxOutputTokens,
      price: priceText(call.price),
      reserved_micro_usd: call.reservedMicroUsd,
      at_ms: call.atMs,
    })),
  );
}

/** Deletes the reservations of calls that have ended. */
export async function deleteReservations(
  sql: Sql,
  dialect: SqlDialect,
  requestIds: readonly string[],
): Promise<void> {
  if (requestIds.length === 0) return;
  await sql.all(
    `DELETE FROM reservations WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
}
