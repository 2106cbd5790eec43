/**
 * Times on pages, in UTC.
 */
import type { JSX } from "../jsx.d.ts";

/** `2026-11-22 07:00:12`; with `ms` also the milliseconds. */
export function momentText(atMs: number, withMs: boolean = false): string {
  return new Date(atMs).toISOString().slice(0, withMs ? 23 : 19)
    .replace("T", " ");
}

/**
 * A time, as an element that the script adds the viewer's own zone to. `bare` is one whose zone the
 * heading of its column names.
 */
export function Moment(
  { atMs, of = "time" }: {
    readonly atMs: number;
    readonly of?: "time" | "day" | "clock" | "bare";
  },
): JSX.Element {
  const text = momentText(atMs);
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {of === "day"
        ? text.slice(0, 10)
        : of === "clock"
        ? text.slice(11)
        : of === "bare"
        ? text
        : `${text} UTC`}
    </time>
  );
}

/** A duration in its two largest units: `16 h 59 m`, `3 d 2 h`, `40 s`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units: readonly (readonly [string, number])[] = [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at === -1) return "0 s";
  const parts: string[] = [];
  let rest = seconds;
  for (const [name, size] of units.slice(at, at + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(" ");
}

/** `3 m ago`, or `in 22 h`. */
export function Distance(
  { atMs, nowMs }: { readonly atMs: number; readonly nowMs: number },
): JSX.Element {
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {atMs > nowMs
        ? `in ${durationText(atMs - nowMs)}`
        : `${durationText(nowMs - atMs)} ago`}
    </time>
  );
}

/** When something was last used; absent: never. */
export function LastUsed(
  { atMs, nowMs }: {
    readonly atMs: number | undefined;
    readonly nowMs: number;
  },
): JSX.Element {
  return atMs === undefined
    ? <span class="soft">never</span>
    : <Distance atMs={atMs} nowMs={nowMs} />;
}
