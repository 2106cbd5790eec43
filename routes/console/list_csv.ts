/**
 * Lists of records as files: keys, tokens, accounts, plans.
 *
 * @module
 */
import {
  type RecordFields,
  recordJson,
  type RecordOf,
} from "../../gateway/accounts/field.ts";
import type {
  ListPage,
  PageRequest,
} from "../../gateway/accounts/repositories/repository.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { csvOf, csvReply, pagesOf } from "./csv.ts";

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
      pagesOf(read, (record) => recordJson(fields, record)),
    ),
  );
}
