/**
 * The filters of a page's address, as fields of the API's query.
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A time to the minute, in UTC, as a field of a form has it. */
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

/**
 * The fields `names` of a query: empty ones are left out, and the last day, `to`, is part of the
 * list; a time to the minute is not. What is no day stays as it is, so that the schema refuses it
 * by its name.
 */
export function filterFields(
  query: URLSearchParams,
  names: readonly string[],
): JsonObject {
  const fields: Record<string, string> = {};
  for (const name of names) {
    const value = query.get(name)?.trim() ?? "";
    if (value === "") continue;
    fields[name] = MINUTE.test(value)
      ? `${value}:00Z`
      : name === "to"
      ? endOf(value)
      : value;
  }
  const { from = "", to = "" } = fields;
  if (Date.parse(from) >= Date.parse(to)) {
    throw invalidField("to", "must not be before from");
  }
  return fields;
}

/** The start of the next day; anything else unchanged. */
function endOf(day: string): string {
  const ms = Date.parse(day);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day
    ? day
    : new Date(ms + DAY_MS).toISOString();
}
