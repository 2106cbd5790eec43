/**
 * Sorting by a column: the order is in the page's address.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";

/** How the head of a column sorts the table. */
export interface SortLink {
  /** The page in this order, or in the reverse one if it is sorted so already. */
  readonly href: string;
  /** The present order; absent: another column's. */
  readonly order?: "ascending" | "descending";
}

/** The order of a page. */
export interface Sorting<O extends string> {
  readonly by: O;
  readonly isDescending: boolean;
  /** The link of a column's head; figures and times are sorted from the largest on first. */
  link(by: O, isLargestFirst?: boolean): SortLink;
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
    link(column, isLargestFirst = false) {
      const search = new URLSearchParams(query);
      const isReverse = column === by ? !isDescending : isLargestFirst;
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

/** A page of a sorted list. */
export interface OffsetPage {
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
