/**
 * Formats replies as text: a list as a table, a single object as lines of name and value.
 */
import { usdText } from "../accounts/charges/money.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";

export function textTable(answer: JsonObject): string {
  const { data } = answer;
  if (!Array.isArray(data)) return pairs(answer);
  const rows = data.filter(isObject);
  const more = typeof answer["next"] === "string"
    ? `\nMore entries follow: --after '${answer["next"]}'`
    : "";
  return rows.length === 0 ? "Nothing found." : table(rows) + more;
}

function pairs(record: JsonObject): string {
  const lines = Object.entries(record).filter(([name]) => name !== "object")
    .map(([name, value]) => [title(name), cell(name, value)] as const);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
    .join("\n");
}

function table(rows: readonly JsonObject[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((
    name,
  ) => name !== "object" && rows.some((row) => hasValue(row[name])));
  const cells = rows.map((row) => names.map((name) => cell(name, row[name])));
  const widths = names.map((name, column) =>
    Math.max(
      title(name).length,
      ...cells.map((line) => line[column]?.length ?? 0),
    )
  );
  const isNumber = names.map((name) =>
    rows.every((row) => typeof (row[name] ?? 0) === "number")
  );
  const line = (parts: readonly string[]): string =>
    parts.map((part, column) => {
      const width = widths[column] ?? 0;
      return isNumber[column] === true
        ? part.padStart(width)
        : part.padEnd(width);
    }).join("  ").trimEnd();
  return [line(names.map(title)), ...cells.map(line)].join("\n");
}

/** Columns without any value are omitted. */
function hasValue(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" &&
    value !== 0 && value !== false &&
    !(Array.isArray(value) && value.length === 0);
}

function title(name: string): string {
  return name.replace(/_micro_usd$/, "").replace(/^micro_usd$/, "amount")
    .replaceAll("_", " ");
}

function cell(name: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") {
    return /(^|_)micro_usd$/.test(name) ? usdText(value) : String(value);
  }
  if (typeof value === "string") {
    return /_at$|^time$/.test(name)
      ? value.replace(/\.\d+Z$/, "Z")
      : printable(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) =>
      isObject(item) ? inline(item) : printable(String(item))
    )
      .join(", ");
  }
  return isObject(value) ? inline(value) : String(value);
}

/**
 * Ids of end users and models are clients' texts: terminals obey control and direction characters.
 */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
}

function inline(record: JsonObject): string {
  return Object.entries(record).map(([name, value]) =>
    `${title(name)} ${cell(name, value)}`
  ).join(" ");
}
