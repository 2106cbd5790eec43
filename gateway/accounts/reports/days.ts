/**
 * Days and hours in UTC, as texts and as numbers that count from 1970.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { HOUR_MS } from "../rows/usage_rows.ts";

/** The number of a day such as `2026-11-21`; `field` is named in the error. */
export function dayNumber(field: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Date.parse(`${text}T00:00:00Z`)
    : NaN;
  // Date.parse accepts the 31st of every month: compare the text with its round trip.
  if (Number.isNaN(ms) || dayText(ms / DAY_MS) !== text) {
    throw invalidField(field, "expected a day such as 2026-11-21");
  }
  return ms / DAY_MS;
}

/** Whether a text is an hour of a range, such as `2026-11-21T13:00`. */
export function isRangeHour(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text);
}

/** Start and end of a range in Unix milliseconds; the last day of a range of days is part of it. */
export function rangeMs(
  from: string,
  to: string,
): { readonly fromMs: number; readonly untilMs: number } {
  const ms = (field: string, text: string): number =>
    isRangeHour(text)
      ? hourNumber(field, `${text}:00Z`) * HOUR_MS
      : dayNumber(field, text) * DAY_MS;
  return {
    fromMs: ms("from", from),
    untilMs: ms("to", to) + (isRangeHour(to) ? 0 : DAY_MS),
  };
}

/** The reverse of {@linkcode dayNumber}. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The number of an hour such as `2026-11-21T13:00:00Z`; `field` is named in the error. */
export function hourNumber(field: string, text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || hourText(ms / HOUR_MS) !== text) {
    throw invalidField(field, "expected an hour such as 2026-11-21T13:00:00Z");
  }
  return ms / HOUR_MS;
}

/** The reverse of {@linkcode hourNumber}. */
export function hourText(hour: number): string {
  return `${new Date(hour * HOUR_MS).toISOString().slice(0, 19)}Z`;
}
