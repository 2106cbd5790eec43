/**
 * Text tables of figures.
 */

/** Rows with aligned columns: the first to the left, the others to the right. */
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

/** A number with about three significant digits; a dash when it is absent or not finite. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
