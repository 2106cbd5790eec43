/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * A table that scrolls sideways inside itself, so that the page does not.
 *
 * @module
 */
import type { Children, JSX } from "../jsx.d.ts";

/** Heading and cells of one column. */
export interface Column<T> {
  /** Heading. */
  readonly name: string;
  /** True: right-aligned figures. */
  readonly number?: boolean;
  /** True: long text that breaks. */
  readonly wraps?: boolean;
  /** Content of a cell. */
  cell(row: T): Children;
  /** Content of the last line. */
  readonly sum?: Children;
}

/** A table of rows. */
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
  return (
    <div class="scroll" role="region" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)}>
                {column.name === ""
                  ? <span class="skip">Actions</span>
                  : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td class={classOf(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ sum }) => sum !== undefined)
          ? (
            <tfoot>
              <tr>
                {columns.map((column) => (
                  <td class={classOf(column)}>{column.sum}</td>
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
