/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The field for a day in forms of filters.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";

/** Browsers complain of a value that is not a day, so one from the address is left out. */
export function DayInput(
  { name, value }: { readonly name: string; readonly value: string },
): JSX.Element {
  return (
    <input
      type="date"
      name={name}
      value={/^\d{4}-\d{2}-\d{2}$/.test(value) &&
          !Number.isNaN(Date.parse(value))
        ? value
        : ""}
    />
  );
}
