/**
 * Reads CSV files of the gateway in tests.
 */

/** The rows, by column name. Cells may be quoted. */
export function csvRows(
  text: string,
): readonly Readonly<Record<string, string>>[] {
  const records: string[][] = [[]];
  for (
    const [, quoted, plain = "", end] of text.matchAll(
      /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g,
    )
  ) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") records.push([]);
  }
  const [names = [], ...rows] = records;
  return rows.filter((cells) =>
    cells.length === names.length && names.length > 1
  )
    .map((cells) =>
      Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]))
    );
}

export function sumOf(
  rows: readonly Readonly<Record<string, string>>[],
  column: string,
): number {
  return rows.reduce((sum, row) => sum + Number(row[column] ?? NaN), 0);
}
