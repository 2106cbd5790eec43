import type {
  HeaderFields,
  HttpReply,
} from "../../../gateway/http/http_reply.ts";
import { PAGE_HEADERS } from "./page_headers.ts";

/** Leads to a page with GET, as after a form was applied. */
export function seeOther(
  location: string,
  headers: HeaderFields = {},
): HttpReply {
  return {
    status: 303,
    headers: { ...PAGE_HEADERS, ...headers, location },
    body: null,
  };
}
