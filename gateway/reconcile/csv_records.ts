/**
 * Reads the records of a CSV or TSV file as it arrives.
 *
 * @module
 */
import { Readable } from "node:stream";
// @ts-types="./csv_driver.d.ts"
import { type CsvRecord, parse } from "csv-parse";
import { ApiError, invalidField } from "../../translate/model/error.ts";

/** Characters of the longest record. */
const MAX_RECORD_CHARS = 64 * 1024;

/**
 * The records of a file, the first one included. The delimiter is the one of comma, semicolon and tab
 * that the first line has most of.
 *
 * @throws {ApiError} `invalid_request` naming the line of a malformed record; what `pieces` throws
 */
export async function* csvRecords(
  pieces: AsyncIterable<string>,
): AsyncGenerator<CsvRecord, void, void> {
  const source = pieces[Symbol.asyncIterator]();
  let head = "";
  let isWhole = false;
  while (!/\n/.test(head) && head.length < MAX_RECORD_CHARS) {
    const { value, done } = await source.next();
    if (done === true) {
      isWhole = true;
      break;
    }
    head += value;
  }
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(head.split("\n", 1)[0] ?? ""),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: MAX_RECORD_CHARS,
  });
  const input = Readable.from((async function* () {
    yield* short(head);
    if (isWhole) return;
    for (;;) {
      const { value, done } = await source.next();
      if (done === true) return;
      yield* short(value);
    }
  })());
  input.on("error", (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    for await (const record of parser) yield record as CsvRecord;
  } catch (error) {
    throw error instanceof ApiError ? error : unreadable(error);
  } finally {
    input.destroy();
    parser.destroy();
    await source.return?.();
  }
}

/** Characters that are parsed at once: some milliseconds. */
const PIECE_CHARS = 16 * 1024;

function* short(piece: string): Generator<string, void, void> {
  for (let at = 0; at < piece.length; at += PIECE_CHARS) {
    yield piece.slice(at, at + PIECE_CHARS);
  }
}

function delimiterOf(line: string): string {
  const counts = [",", ";", "\t"].map((one) =>
    [one, line.split(one).length] as const
  );
  return counts.toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? ",";
}

function unreadable(error: unknown): ApiError {
  const { code, lines } = typeof error === "object" && error !== null
    ? error as { readonly code?: unknown; readonly lines?: unknown }
    : {};
  const what = code === "CSV_MAX_RECORD_SIZE"
    ? `is longer than ${MAX_RECORD_CHARS} characters`
    : "is not valid CSV: check its quotes";
  return invalidField(
    "file",
    typeof lines === "number" ? `line ${lines} ${what}` : `a line ${what}`,
  );
}
