/**
 * Tables as CSV files.
 *
 * @module
 */
import { csvCell } from "../../gateway/accounts/repositories/ledger_report.ts";
import { allPages } from "../../gateway/accounts/repositories/all_pages.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type {
  ListPage,
  PageRequest,
} from "../../gateway/accounts/repositories/repository.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { PAGE_HEADERS } from "./page_headers.ts";

/** Rows as a CSV file (RFC 4180), read from the store at the browser's pace. */
export async function csvReply(
  name: string,
  pages: AsyncGenerator<string, void, void>,
): Promise<HttpReply> {
  // The columns, and the first lines too, are read before the status is sent: a wrong filter or a
  // store that does not answer is an error, no truncated file.
  const columns = await pages.next();
  let next = await pages.next();
  const encoder = new TextEncoder();
  return {
    status: 200,
    headers: {
      ...PAGE_HEADERS,
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
    body: new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        if (columns.done === true) return;
        controller.enqueue(encoder.encode(columns.value));
      },
      async pull(controller) {
        if (next.done === true) return controller.close();
        controller.enqueue(encoder.encode(next.value));
        next = await pages.next();
      },
      async cancel() {
        await pages.return();
      },
    }),
  };
}

/** Lines of objects with the fields `names`; the first line names them. */
export async function* csvOf(
  names: readonly string[],
  pages:
    | AsyncIterable<readonly JsonObject[]>
    | Iterable<readonly JsonObject[]>,
): AsyncGenerator<string, void, void> {
  yield `${names.join(",")}\r\n`;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield rows.map((row) =>
      `${names.map((name) => csvCell(cellOf(row[name]))).join(",")}\r\n`
    ).join("");
  }
}

/** A value as one cell: a list with semicolons, an object as JSON. */
function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(String).join("; ");
  return isObject(value) ? JSON.stringify(value) : value;
}

/** All pages of a list, read one after the other. */
export async function* pagesOf<T>(
  read: (page: PageRequest) => Promise<ListPage<T>>,
  row: (item: T) => JsonObject,
): AsyncGenerator<readonly JsonObject[], void, void> {
  for await (const items of allPages(read, { limit: PAGE_LENGTH })) {
    yield items.map(row);
  }
}

const PAGE_LENGTH = 1000;
