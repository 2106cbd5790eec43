/**
 * A table that scrolls sideways inside itself, so that the page does not; in a narrow window each
 * row is a card.
 */
import type { Children, JSX } from "../jsx.d.ts";
import type { Order, SortLink } from "./sorting.ts";

/** Heading and cells of one column. */
export interface Column<T> {
  readonly name: string;
  /** Sorts the table by this column. */
  readonly sort?: SortLink;
  /** How a list that is whole in memory is sorted by this column: see `sortedList`. */
  readonly order?: Order<T>;
  /** True: what the row is about, or its state: in a narrow window before the other cells. */
  readonly isFirst?: boolean;
  /** True: right-aligned figures. */
  readonly number?: boolean;
  /** True: long text that breaks. */
  readonly wraps?: boolean;
  cell(row: T): Children;
  /** Content of the last line. */
  readonly sum?: Children;
}

export function DataTable<T>(
  { name, columns, rows }: {
    /** Names the scrolling region and the table. */
    readonly name: string;
    readonly columns: readonly Column<T>[];
    readonly rows: readonly T[];
  },
): JSX.Element {
  const classOf = ({ number, wraps }: Column<T>): string | undefined =>
    number === true ? "n" : wraps === true ? "wrap" : undefined;
  const nameInCard = ({ name, isFirst }: Column<T>): string | undefined =>
    isFirst !== true && name !== "" ? name : undefined;
  const subject = columns.find(({ name }) => name !== "");
  const cellOf = (column: Column<T>, row: T): JSX.Element => {
    // A screen reader reads the header of a row with each of its cells.
    const Cell = column === subject ? "th" : "td";
    return (
      <Cell
        scope={column === subject ? "row" : undefined}
        class={[
          classOf(column),
          column.isFirst === true ? "first" : undefined,
        ].filter((one) => one !== undefined).join(" ") || undefined}
        data-name={nameInCard(column)}
      >
        {column.cell(row)}
      </Cell>
    );
  };
  return (
    <div
      class="scroll"
      role="region"
      aria-label={name}
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                scope="col"
                class={classOf(column)}
                aria-sort={column.sort?.order}
                data-first={column.isFirst}
                data-label={nameInCard(column)}
              >
                {column.sort !== undefined
                  ? <a href={column.sort.href}>{column.name}</a>
                  : column.name === ""
                  ? <span class="skip">Actions</span>
                  : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => cellOf(column, row))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ sum }) => sum !== undefined)
          ? (
            <tfoot>
              <tr>
                {columns.map((column) => (
                  <td
                    class={classOf(column)}
                    data-name={column.sum === undefined
                      ? undefined
                      : nameInCard(column)}
                  >
                    {column.sum}
                  </td>
                ))}
              </tr>
            </tfoot>
          )
          : null}
      </table>
    </div>
  );
}

const MAX_CHARS = 80;

/** Text that a caller chose: cut, apart from the text around it, and never a link. */
export function Foreign({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{cutText(text)}</bdi>;
}

/** Text that a caller chose, at most 80 characters of it. */
export function cutText(text: string): string {
  const characters = [...text];
  return characters.length > MAX_CHARS
    ? `${characters.slice(0, MAX_CHARS - 1).join("")}…`
    : text;
}
