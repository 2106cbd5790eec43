/**
 * A list that is whole in memory is narrowed by a part of a text, and has a bounded number of rows.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { RouteContext } from "../../route.ts";
import type { JSX } from "../jsx.d.ts";
import { countText } from "../parts/money.tsx";
import { TextField } from "./field.tsx";

type Address = Pick<RouteContext, "path" | "query">;

/** The parameters of such a list. */
export const NARROWED: readonly string[] = ["q", "sort"];

/** Fewer rows are seen at a glance. */
const SEARCHABLE = 10;
const MAX_ROWS = 200;

function partOf({ query }: Address): string {
  return query.get("q")?.trim() ?? "";
}

/** The rows that have the part in one of their texts, in any case. */
export function narrowRows<T>(
  address: Address,
  rows: readonly T[],
  textsOf: (row: T) => readonly string[],
): readonly T[] {
  const part = partOf(address).toLowerCase();
  return rows.filter((row) =>
    textsOf(row).some((text) => text.toLowerCase().includes(part))
  );
}

/** The rows of a page. */
export function firstRows<T>(rows: readonly T[]): readonly T[] {
  return rows.slice(0, MAX_ROWS);
}

export function NarrowForm(
  { address, visit, title, count }: {
    readonly address: Address;
    readonly visit: Visit;
    /** What the part is of. */
    readonly title: string;
    /** Number of rows of the whole list. */
    readonly count: number;
  },
): JSX.Element | null {
  const part = partOf(address);
  const sort = address.query.get("sort") ?? "";
  return part === "" && count < SEARCHABLE
    ? null
    : (
      <form class="card row" action={address.path}>
        <TextField
          visit={visit}
          name="q"
          title={title}
          value={part}
          placeholder="any part"
        />
        {sort === "" ? null : <input type="hidden" name="sort" value={sort} />}
        <button class="main" type="submit">Apply</button>
        {part === "" ? null : <a href={address.path}>Show all</a>}
      </form>
    );
}

/** What of the rows is not shown. */
export function RowsNote(
  { count }: { readonly count: number },
): JSX.Element | null {
  return count === 0
    ? <p>None matches.</p>
    : count <= MAX_ROWS
    ? null
    : (
      <p class="soft">
        The first {MAX_ROWS} of {countText(count)}{" "}
        in this order; a part of a name finds the others.
      </p>
    );
}
