/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The fields for days in forms of filters.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";

/**
 * An invalid time in the URL is shown as empty: browsers log a warning for it. A time with hours, as
 * in links from figures, is shown to the minute.
 */
export function DayInput(
  { name, value }: { readonly name: string; readonly value: string },
): JSX.Element {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value);
  const isValid = !Number.isNaN(Date.parse(value));
  return isValid && !isDay
    ? (
      <input
        type="datetime-local"
        name={name}
        value={new Date(value).toISOString().slice(0, 16)}
      />
    )
    : <input type="date" name={name} value={isValid ? value : ""} />;
}

/** The first and the last day of a list; `value` returns a filter's text. */
export function PeriodInputs(
  { value }: { readonly value: (name: string) => string },
): JSX.Element {
  return (
    <>
      <label>
        From (UTC)
        <DayInput name="from" value={value("from")} />
      </label>
      <label>
        To (UTC)
        <DayInput name="to" value={value("to")} />
      </label>
    </>
  );
}
