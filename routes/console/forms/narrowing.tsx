/**
 * A list that is whole in memory is narrowed by a part of a text, and has a bounded number of rows.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { RouteContext } from "../../route.ts";
import type { Children, JSX } from "../jsx.d.ts";
import { type Column, DataTable } from "../parts/data_table.tsx";
import { countText } from "../parts/money.tsx";
import { sortedList } from "../parts/sorting.ts";
import { TextField } from "./field.tsx";
import { SearchForm } from "../parts/search_form.tsx";

type Address = Pick<RouteContext, "path" | "query">;

/** The parameters of such a list. */
export const NARROWED: readonly string[] = ["q", "sort"];

/** Fewer rows are seen at a glance. */
const SEARCHABLE = 10;
const MAX_ROWS = 200;

function partOf({ query }: Address): string {
  return query.get("q")?.trim() ?? "";
}

/** The form, and a card with the rows that have the part in one of their texts, in any case. */
export function NarrowedTable<T>(
  { address, visit, name, title, heading, rows, textsOf, columns, sort, note }:
    {
      readonly address: Address;
      readonly visit: Visit;
      /** Names the table. */
      readonly name: string;
      /** What the part is of. */
      readonly title: string;
      /** Above the table; absent: the page has no other. */
      readonly heading?: string;
      /** The whole list. */
      readonly rows: readonly T[];
      textsOf(row: T): readonly string[];
      readonly columns: readonly Column<T>[];
      /** The order where the address has none. */
      readonly sort: string;
      /** Below the table. */
      readonly note?: Children;
    },
): JSX.Element {
  const part = partOf(address).toLowerCase();
  const list = sortedList<T, Column<T>>(
    address,
    rows.filter((row) =>
      textsOf(row).some((text) => text.toLowerCase().includes(part))
    ),
    columns,
    sort,
  );
  return (
    <>
      <NarrowForm
        address={address}
        visit={visit}
        title={title}
        count={rows.length}
      />
      <section class="card">
        {heading === undefined ? null : <h2>{heading}</h2>}
        <DataTable<T>
          name={name}
          rows={list.rows.slice(0, MAX_ROWS)}
          columns={list.columns}
        />
        <RowsNote count={list.rows.length} />
        {note === undefined ? null : <p class="soft">{note}</p>}
      </section>
    </>
  );
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
      <SearchForm visit={visit} class="card row" path={address.path}>
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
      </SearchForm>
    );
}

/** What of the rows is not shown. */
function RowsNote(
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
