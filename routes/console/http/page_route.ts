/**
 * The routes of pages that need a session, a line each.
 */
import type { AccountPageRoute, OperatorPageRoute } from "../../route.ts";

/** What only some pages have. */
type Others<R extends AccountPageRoute | OperatorPageRoute> = Omit<
  R,
  "access" | "area" | "permission" | "method" | "path" | "handle"
>;

export function accountPageRoute(
  permission: AccountPageRoute["permission"],
  method: "GET" | "POST",
  path: string,
  handle: AccountPageRoute["handle"],
  others: Others<AccountPageRoute> = {},
): AccountPageRoute {
  return {
    access: "page",
    area: "account",
    permission,
    method,
    path,
    handle,
    ...others,
  };
}

/** A page of the operators' area. */
export function operatorPageRoute(
  method: "GET" | "POST",
  path: string,
  handle: OperatorPageRoute["handle"],
  others: Others<OperatorPageRoute> = {},
): OperatorPageRoute {
  return { access: "page", area: "operator", method, path, handle, ...others };
}
