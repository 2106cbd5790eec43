/**
 * Tables as CSV files.
 *
 * @module
 */
import { csvCell } from "../../gateway/accounts/repositories/ledger_report.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { PAGE_HEADERS } from "./page_headers.ts";

/** Rows as a CSV file (RFC 4180), read from the store at the browser's pace. */
export async function csvReply(
  name: string,
  pages: AsyncGenerator<string, void, void>,
): Promise<HttpReply> {
  // Read before the status is sent: a store that does not answer is an error, no truncated file.
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

/** Lines of objects that have the same fields; the first line names them. */
export async function* csvOf(
  pages: AsyncIterable<readonly JsonObject[]>,
): AsyncGenerator<string, void, void> {
  let names: readonly string[] | undefined;
  for await (const rows of pages) {
    const [first] = rows;
    if (names === undefined && first !== undefined) {
      names = Object.keys(first);
      yield `${names.join(",")}\r\n`;
    }
    yield rows.map((row) =>
      `${(names ?? []).map((name) => csvCell(row[name] ?? null)).join(",")}\r\n`
    ).join("");
  }
}
