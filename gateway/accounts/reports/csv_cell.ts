/** The start of a formula; a negative number is no formula. */
const FORMULA = /^(?!-\d+(?:\.\d+)?$)[=+\-@\t\r\n＝＋－＠]/;
/** The start of a formula after a character that separates cells in some languages. */
const INNER_FORMULA = /([;\t\r\n][\s"]*)(?=[=+\-@＝＋－＠])/g;

/**
 * A value as a cell of CSV (RFC 4180). Spreadsheets evaluate a cell that starts like a formula, and
 * clients choose the text in `user`: a quote in front prevents that.
 */
export function csvCell(value: unknown): string {
  if (value === null) return "";
  if (typeof value === "object") return csvCell(JSON.stringify(value));
  if (typeof value !== "string") return String(value);
  const text = (FORMULA.test(value) ? `'${value}` : value)
    .replaceAll(INNER_FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
