/**
 * The records of a vendor's file, whatever its form: lines of CSV, or pages of a vendor's API of
 * costs or usage as JSON.
 */
import { csvRecords } from "./csv_records.ts";
import { jsonRecords } from "./json_records.ts";

/** A record; the first one of a file has the names of the columns. */
export interface FileRecord {
  /** Where it is in the file: `line 5`, `result 5`. */
  readonly place: string;
  readonly number: number;
  readonly cells: readonly string[];
}

/**
 * Reads the records of a file.
 *
 * @throws {ApiError} `invalid_request` naming the place of a malformed record; what `pieces` throws
 */
export async function* fileRecords(
  pieces: AsyncIterable<string>,
): AsyncGenerator<FileRecord, void, void> {
  const source = pieces[Symbol.asyncIterator]();
  let head = "";
  let isWhole = false;
  while (!isWhole && head.trim() === "") {
    const { value, done } = await source.next();
    if (done === true) isWhole = true;
    else head += value;
  }
  const all = (async function* () {
    yield head;
    if (!isWhole) yield* { [Symbol.asyncIterator]: () => source };
  })();
  try {
    if (/^\uFEFF?\s*[{[]/.test(head)) {
      for (const [number, cells] of (await jsonRecords(all)).entries()) {
        yield { place: `result ${number}`, number, cells };
      }
      return;
    }
    for await (const { info: { lines }, record } of csvRecords(all)) {
      yield { place: `line ${lines}`, number: lines, cells: record };
    }
  } finally {
    await source.return?.();
  }
}
