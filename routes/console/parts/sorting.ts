/**
 * Sorting by a column: the order is in the page's address.
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";

/** The parameters of a list that is sorted, and paged by a cursor in its own order. */
export const LIST_PLACES: readonly string[] = ["after", "sort", "page"];

/** How the head of a column sorts the table. */
export interface SortLink {
  /** The page in this order, or in the reverse one if it is sorted so already. */
  readonly href: string;
  /** The present order; absent: another column's. */
  readonly order?: "ascending" | "descending";
}

export interface Sorting<O extends string> {
  readonly by: O;
  readonly isDescending: boolean;
  /** The link of a column's head: figures and times from the largest on first (`only`: always). */
  link(by: O, largest?: "first" | "only"): SortLink;
}

/**
 * The order that the address names as `sort`: a name, with `-` before it for the reverse order.
 *
 * @throws {ApiError} `invalid_request` for another name
 */
export function sortingOf<O extends string>(
  { query, path }: Pick<RouteContext, "query" | "path">,
  orders: readonly O[],
  otherwise: string,
): Sorting<O> {
  const text = query.get("sort") || otherwise;
  const isDescending = text.startsWith("-");
  const by = orders.find((one) => one === text.replace(/^-/, ""));
  if (by === undefined) {
    throw invalidField("sort", `must be one of ${orders.join(", ")}`);
  }
  return {
    by,
    isDescending,
    link(column, largest) {
      const search = new URLSearchParams(query);
      const isReverse = largest === "only" ||
        (column === by ? !isDescending : largest === "first");
      search.set("sort", `${isReverse ? "-" : ""}${column}`);
      for (const place of ["after", "page"]) search.delete(place);
      return {
        href: `${path}?${search}`,
        ...(column === by
          ? { order: isDescending ? "descending" : "ascending" }
          : {}),
      };
    },
  };
}

/** The rows of a list that is whole in memory, in an order; those without a value are last. */
export function sortRows<T, O extends string>(
  rows: readonly T[],
  { by, isDescending }: Pick<Sorting<O>, "by" | "isDescending">,
  values: Readonly<Record<O, (row: T) => string | number | undefined>>,
): readonly T[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [values[by](one), values[by](other)];
    if (a === b) return 0;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return a < b ? -sign : sign;
  });
}

/** An order of a list: its name in the address, and what is compared. */
export interface Order<T> {
  readonly name: string;
  /** See {@linkcode Sorting.link}. */
  readonly largest?: "first" | "only";
  of(row: T): string | number | undefined;
}

/**
 * A list that is whole in memory, in the order that the address names, and its columns with links.
 *
 * @throws {ApiError} `invalid_request` for an order that no column has
 */
export function sortedList<T, C extends { readonly order?: Order<T> }>(
  context: Pick<RouteContext, "query" | "path">,
  rows: readonly T[],
  columns: readonly C[],
  otherwise: string,
): {
  readonly rows: readonly T[];
  readonly columns: readonly (C & { readonly sort?: SortLink })[];
} {
  const orders = columns.flatMap(({ order }) =>
    order === undefined ? [] : [order]
  );
  const sorting = sortingOf(context, orders.map(({ name }) => name), otherwise);
  return {
    rows: sortRows(
      rows,
      sorting,
      Object.fromEntries(orders.map(({ name, of }) => [name, of])),
    ),
    columns: columns.map((column) =>
      column.order === undefined ? column : {
        ...column,
        sort: sorting.link(column.order.name, column.order.largest),
      }
    ),
  };
}

interface OffsetPage {
  readonly range: { readonly offset: number; readonly limit: number };
  /** Address of the next page. */
  readonly next: string;
}

/** The page that the address names as `page`, from 1 on. */
export function offsetOf(
  { query, path }: Pick<RouteContext, "query" | "path">,
  limit: number,
): OffsetPage {
  const text = /^\d{1,4}$/.exec(query.get("page") ?? "")?.[0] ?? "1";
  const at = Math.max(1, Number(text));
  const search = new URLSearchParams(query);
  search.set("page", String(at + 1));
  return {
    range: { offset: (at - 1) * limit, limit },
    next: `${path}?${search}`,
  };
}
