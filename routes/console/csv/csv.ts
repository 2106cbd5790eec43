/**
 * Tables as CSV files.
 */
import { dollarsText } from "../../../gateway/accounts/charges/money.ts";
import { csvCell } from "../../../gateway/accounts/reports/csv_cell.ts";
import { exportText } from "../../../gateway/admin/export_text.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { fileReply } from "../../account/file_reply.ts";
import { PAGE_HEADERS } from "../http/page_headers.ts";

/**
 * Rows as a CSV file (RFC 4180), read from the store at the browser's pace.
 *
 * @throws {ApiError} as {@linkcode fileReply}
 */
export function csvReply(
  name: string,
  text: AsyncGenerator<string, void, void>,
): Promise<HttpReply> {
  return fileReply({
    ...PAGE_HEADERS,
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${name}.csv"`,
  }, text);
}

/**
 * Lines of objects with the fields `names`; the first line names them. Beside each amount in
 * micro-dollars is the same in dollars: `micro_usd`, `usd`.
 */
export function csvOf<T>(
  names: readonly string[],
  slices: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  rowOf: (item: T) => JsonObject,
): AsyncGenerator<string, void, void> {
  const columns = names.flatMap((name) =>
    MICRO.test(name)
      ? [{ name }, { name: name.replace(MICRO, "usd"), micro: name }]
      : [{ name }]
  );
  const head = columns.map(({ name }) => name).join(",");
  return exportText(`${head}\r\n`, slices, (item) => {
    const row = rowOf(item);
    const cells = columns.map((column) =>
      "micro" in column
        ? dollarsCell(row[column.micro])
        : csvCell(cellOf(row[column.name]))
    );
    return `${cells.join(",")}\r\n`;
  });
}

const MICRO = /micro_usd$/;

/** Micro-dollars as dollars: a number, which no spreadsheet evaluates. */
function dollarsCell(microUsd: unknown): string {
  return typeof microUsd === "number" ? dollarsText(microUsd) : "";
}

/** A value as one cell: a list of words with semicolons, objects as JSON. */
function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const isList = Array.isArray(value);
  if (isList && !value.some(isObject)) return value.map(String).join("; ");
  return isList || isObject(value) ? JSON.stringify(value) : value;
}
