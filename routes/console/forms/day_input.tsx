/**
 * The input for a day, or for a month.
 */
import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import { stateOf } from "./field.tsx";

/**
 * A time with hours, as in links from figures, is shown to the minute. What is no day is shown as a
 * text, since an input for days would drop it.
 */
export function DayInput(
  { visit, name, value, of = "day" }: {
    readonly visit: Visit;
    readonly name: string;
    readonly value: string;
    readonly of?: "day" | "month";
  },
): JSX.Element {
  const ms = Date.parse(value);
  const isWrong = Number.isNaN(ms) || visit.problem?.field === name;
  const [type, shown] = value !== "" && isWrong
    ? ["text", value]
    : of === "month"
    ? ["month", value]
    : value === "" || /^\d{4}-\d{2}-\d{2}$/.test(value)
    ? ["date", value]
    : ["datetime-local", new Date(ms).toISOString().slice(0, 16)];
  return (
    <input
      type={type}
      name={name}
      value={shown}
      placeholder={of === "day" ? "2026-11-30" : "2026-11"}
      {...stateOf(visit, name)}
    />
  );
}
