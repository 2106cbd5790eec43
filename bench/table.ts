/**
 * Figures in rows for people.
 *
 * @module
 */

/** Rows with their columns lined up: the first to the left, the others to the right. */
export function tableLines(
  rows: readonly (readonly string[])[],
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    }
  }
  return rows.map((row) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
    ).join("  ").trimEnd()
  );
}

/** A number with as many digits as say something. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
