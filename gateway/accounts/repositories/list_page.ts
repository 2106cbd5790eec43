/** Pages of lists: what is requested, and what is returned. */

/** Start and length of a page. */
export interface PageRequest {
  /** Cursor: the `next` of the previous page. */
  readonly after?: string;
  /** Maximum number of items, 1 to 1000; absent: 100. */
  readonly limit?: number;
}

/** A page of a list whose filters no index has, so that records are walked past. */
export interface SearchRequest extends PageRequest {
  /**
   * Most records to walk past; absent: as many as it takes. A page that ends there may have fewer
   * items than its limit, and has a cursor to search on from.
   */
  readonly scanLimit?: number;
}

/**
 * Most rows and records of a page of an export: few enough for one turn of the event loop, and for
 * other readers not to wait, though each record may be on another page of the disk.
 */
export const EXPORT_PAGE = { rows: 500, scanned: 10_000 } as const;

export interface ListPage<T> {
  /** Items of the page. */
  readonly data: readonly T[];
  /** Cursor of the next page; absent on the last one. */
  readonly next?: string;
}

const PAGE = 100;

/** Makes a page from up to `limit + 1` rows; the additional row shows that there is a next page. */
export function listPage<T>(
  items: readonly T[],
  limit: number,
  cursor: (item: T) => string,
): ListPage<T> {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  return {
    data,
    ...(items.length > limit && last !== undefined
      ? { next: cursor(last) }
      : {}),
  };
}

/** Page length: the requested limit within 1 to 1000, or the default. */
export function pageLimit(
  page: PageRequest,
  defaultLimit: number = PAGE,
): number {
  return Math.min(Math.max(1, page.limit ?? defaultLimit), 1000);
}

/** A page of one account's records, or of all. */
export interface OrderedPage extends PageRequest {
  readonly accountId?: string;
  /** True: the newest first; absent: the oldest. */
  readonly newestFirst?: boolean;
}
