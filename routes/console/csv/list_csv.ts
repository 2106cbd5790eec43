/**
 * Lists of records as files: keys, tokens, accounts, plans.
 *
 * @module
 */
import {
  type RecordFields,
  recordJson,
  type RecordOf,
} from "../../../gateway/accounts/field.ts";
import { allPages } from "../../../gateway/accounts/repositories/all_pages.ts";
import type {
  ListPage,
  PageRequest,
} from "../../../gateway/accounts/repositories/repository.ts";
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
