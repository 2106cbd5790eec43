import { Readable } from "node:stream";
// @ts-types="./csv_driver.d.ts"
import { type CsvRecord, parse } from "csv-parse";
import { ApiError, invalidField } from "../../translate/model/error.ts";

/** Characters of the longest record. */
const MAX_RECORD_CHARS = 64 * 1024;

/**
 * The records of a file, the first one included. The delimiter is the one of comma, semicolon and
 * tab that the first line has most of.
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
  const lines = new LineLengths();
  const input = Readable.from((async function* () {
    yield* short(head, lines);
    if (isWhole) return;
    for (;;) {
      const { value, done } = await source.next();
      if (done === true) return;
      yield* short(value, lines);
    }
  })());
  input.on("error", (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    let columns = Infinity;
    for await (const one of parser) {
      const found = one as CsvRecord;
      if (columns === Infinity) columns = found.record.length;
      requireCells(found, columns);
      yield found;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : unreadable(error);
  } finally {
    input.destroy();
    parser.destroy();
    await source.return?.();
  }
}

/**
 * A comma inside a cell without quotes moves all cells behind it: an amount would be read from
 * another column.
 *
 * @throws {ApiError} `invalid_request` for text behind the last column
 */
function requireCells({ record, info }: CsvRecord, columns: number): void {
  if (record.slice(columns).every((cell) => cell === "")) return;
  throw invalidField(
    "file",
    `line ${info.lines} has ${record.length} cells, but there are ${columns} columns: put quotes around a cell with the file's delimiter`,
  );
}

/** Characters that are parsed at once: some milliseconds. */
const PIECE_CHARS = 16 * 1024;

function* short(
  piece: string,
  lines: LineLengths,
): Generator<string, void, void> {
  for (let at = 0; at < piece.length; at += PIECE_CHARS) {
    const part = piece.slice(at, at + PIECE_CHARS);
    lines.add(part);
    yield part;
  }
}

/**
 * Bounds the lines: the parser's own bound does not count delimiters, so a line of delimiters could
 * have any number of cells.
 */
class LineLengths {
  #line = 1;
  #chars = 0;

  /** @throws {ApiError} `invalid_request` for a line that is too long */
  add(part: string): void {
    let at = 0;
    for (
      let end = part.indexOf("\n");
      end >= 0;
      end = part.indexOf("\n", at)
    ) {
      this.#count(end - at);
      at = end + 1;
      this.#chars = 0;
      this.#line++;
    }
    this.#count(part.length - at);
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars > MAX_RECORD_CHARS) throw tooLong(`line ${this.#line}`);
  }
}

function tooLong(which: string): ApiError {
  return invalidField(
    "file",
    `${which} is longer than ${MAX_RECORD_CHARS} characters`,
  );
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
  const which = typeof lines === "number" ? `line ${lines}` : "a line";
  return code === "CSV_MAX_RECORD_SIZE"
    ? tooLong(which)
    : invalidField("file", `${which} is not valid CSV: check its quotes`);
}
