/**
 * Lists of records as files: keys, tokens, accounts, plans.
 */
import {
  type RecordFields,
  recordJson,
  type RecordOf,
} from "../../../gateway/accounts/field.ts";
import { allPages } from "../../../gateway/accounts/reports/all_pages.ts";
import type {
  ListPage,
  PageRequest,
} from "../../../gateway/accounts/repositories/list_page.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { csvOf, csvReply } from "./csv.ts";

/** Records that one statement reads. */
const PAGE_LENGTH = 100;

/** Every record of a list as CSV, with the columns of its JSON form. */
export function listCsv<F extends RecordFields>(
  name: string,
  fields: F,
  read: (page: PageRequest) => Promise<ListPage<RecordOf<F>>>,
): Promise<HttpReply> {
  return csvReply(
    name,
    csvOf(
      Object.values(fields).map(({ json }) => json),
      allPages(read, { limit: PAGE_LENGTH }),
      (record) => recordJson(fields, record),
    ),
  );
}

/** Records that one statement of a filtered list reads: each begins at the start of the list. */
const OFFSET_LENGTH = 1000;

/** Reads a list that is filtered, and therefore paged by offsets. */
export function byOffset<T>(
  read: (
    range: { readonly offset: number; readonly limit: number },
  ) => Promise<{ readonly data: readonly T[]; readonly hasMore: boolean }>,
): (page: PageRequest) => Promise<ListPage<T>> {
  return async ({ after = "0" }) => {
    const offset = Number(after);
    const { data, hasMore } = await read({ offset, limit: OFFSET_LENGTH });
    return hasMore ? { data, next: String(offset + data.length) } : { data };
  };
}
