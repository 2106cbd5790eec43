/**
 * Calendar windows: days, weeks from Monday on, and months, all in UTC. So a window never
 * depends on a time zone or its clock changes, and every day belongs to exactly one week
 * and one month.
 *
 * Days are counted from 1970-01-01.
 */

export type WindowName = "day" | "week" | "month";

export const DAY_MS = 86_400_000;

/** The windows, shortest first. */
export const WINDOWS: readonly WindowName[] = ["day", "week", "month"];

/** A value for each window. A literal, because every call makes some. */
export function perWindow<T>(
  make: (window: WindowName) => T,
): Record<WindowName, T> {
  return { day: make("day"), week: make("week"), month: make("month") };
}

/** The day (UTC) of a time in Unix milliseconds. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

export function firstDayOf(window: WindowName, day: number): number {
  switch (window) {
    case "day":
      return day;
    case "week":
      // 1970-01-01 was a Thursday, three days after a Monday.
      return day - (((day + 3) % 7) + 7) % 7;
    case "month": {
      const date = new Date(day * DAY_MS);
      return day - (date.getUTCDate() - 1);
    }
  }
}

/** First day after the window that contains a day. */
export function dayAfter(window: WindowName, day: number): number {
  switch (window) {
    case "day":
      return day + 1;
    case "week":
      return firstDayOf("week", day) + 7;
    case "month": {
      const date = new Date(day * DAY_MS);
      return dayOf(
        Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
      );
    }
  }
}

const WEEKDAYS = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

/** A day for people: `Monday 2026-11-30 00:00 UTC`. */
export function dayText(day: number): string {
  const date = new Date(day * DAY_MS);
  return `${WEEKDAYS[date.getUTCDay()]} ${
    date.toISOString().slice(0, 10)
  } 00:00 UTC`;
}
