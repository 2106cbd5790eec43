/**
 * Reads and writes rows by the definition of their fields, see `field.ts`.
 */
import type { RecordFields, RecordOf } from "../field.ts";
import type { Columns, Sql, SqlRow, SqlValue } from "../store/store.ts";

/** Reads a record; `prefix` is that of {@linkcode picks}. */
export function recordFrom<D extends RecordFields>(
  fields: D,
  row: SqlRow,
  prefix?: string,
): RecordOf<D>;
export function recordFrom(
  fields: RecordFields,
  row: SqlRow,
  prefix: string = "",
): object {
  // Pages and exports read many rows: intermediate arrays would take most of their time.
  const record: Record<string, unknown> = {};
  for (const name in fields) {
    const one = fields[name];
    const value = one?.fromSql(row, prefix + one.column);
    if (value !== undefined) record[name] = value;
  }
  return record;
}

/** The columns for a SELECT on several tables: of `alias`, with `prefix` before their names. */
export function picks(
  fields: RecordFields,
  alias: string,
  prefix: string,
): string {
  return Object.values(fields)
    .map(({ column }) => `${alias}.${column} AS ${prefix}${column}`)
    .join(", ");
}

export function columnsOf(fields: RecordFields): Columns {
  return Object.fromEntries(
    Object.values(fields).map(({ column, sqlType }) => [column, sqlType]),
  );
}

/** The columns of the given values; null is NULL. */
export function rowOf(
  fields: RecordFields,
  values: object,
): Readonly<Record<string, SqlValue>> {
  const row: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(values)) {
    const one = fields[name];
    if (one !== undefined) {
      row[one.column] = value === null ? null : one.toSql(value);
    }
  }
  return row;
}

/** Inserts a row. Columns that are not given have their default. */
export async function insertRow(
  sql: Sql,
  table: string,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const names = Object.keys(row);
  await sql.all(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${
      names.map((_, at) => `$${at + 1}`).join(", ")
    })`,
    Object.values(row),
  );
}

/** Changes the given columns of the row with this id. */
export async function updateRow(
  sql: Sql,
  table: string,
  id: string,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const names = Object.keys(row);
  if (names.length === 0) return;
  await sql.all(
    `UPDATE ${table} SET ${
      names.map((name, at) => `${name} = $${at + 2}`).join(", ")
    } WHERE id = $1`,
    [id, ...Object.values(row)],
  );
}
