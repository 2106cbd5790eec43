/**
 * Reads and writes reservations: rows of `open_calls`, one per active call.
 */
import { priceText } from "../charges/money.ts";
import { RESERVED_CALL, type ReservedCall } from "../records.ts";
import { columnsOf, recordFrom } from "./record_rows.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
  type SqlRow,
  type SqlValue,
  textOf,
} from "../store/store.ts";

export interface StoredReservation {
  /** The call as granted. */
  readonly call: ReservedCall;
  /** Lease id of the process that serves the call. */
  readonly leaseId: string;
  /** Model whose own balance pays; empty: the account's balance. */
  readonly balanceModel: string;
}

const INTO = insertStatement("open_calls", {
  owner_id: "TEXT",
  purse: "TEXT",
  ...columnsOf(RESERVED_CALL),
});

/** The reservations of these calls, by request id. */
export async function readReservations(
  sql: Sql,
  dialect: SqlDialect,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, StoredReservation>> {
  const rows = await sql.all(
    `SELECT * FROM open_calls WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
  return new Map(
    rows.map(reservationFrom).map((
      reservation,
    ) => [reservation.call.requestId, reservation]),
  );
}

export function reservationFrom(row: SqlRow): StoredReservation {
  return {
    leaseId: textOf(row, "owner_id"),
    balanceModel: textOf(row, "purse"),
    call: recordFrom(RESERVED_CALL, row),
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
    calls.map(rowOf),
  );
}

/** Every call passes here: a literal is several times faster than a loop over the definitions. */
function rowOf(
  { call, leaseId, balanceModel }: StoredReservation,
): Readonly<Record<string, SqlValue>> {
  return {
    owner_id: leaseId,
    purse: balanceModel,
    request_id: call.requestId,
    account_id: call.accountId,
    key_id: call.keyId,
    model: call.model,
    user_id: call.user ?? null,
    input_tokens: call.inputTokens,
    max_output_tokens: call.maxOutputTokens,
    price: priceText(call.price),
    reserved_micro_usd: call.reservedMicroUsd,
    reserved_tokens: call.reservedTokens ?? null,
    at_ms: call.atMs,
  };
}

/** Deletes the reservations of calls that have ended. */
export async function deleteReservations(
  sql: Sql,
  dialect: SqlDialect,
  requestIds: readonly string[],
): Promise<void> {
  if (requestIds.length === 0) return;
  await sql.all(
    `DELETE FROM open_calls WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(requestIds)],
  );
}
