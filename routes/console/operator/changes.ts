/**
 * Who changed what, over all accounts.
 *
 * @module
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import {
  CHANGE_PARAMETERS,
  changesCsv,
  changesView,
  OPERATOR_NAV,
} from "../pages/changes.tsx";

/** The list, and all of it as a file. */
export const CHANGES_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: OPERATOR_NAV,
    query: [...CHANGE_PARAMETERS, "after"],
    handle: changesPage,
    again: changesPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${OPERATOR_NAV}.csv`,
    query: CHANGE_PARAMETERS,
    handle: ({ gateway, query }) => changesCsv(gateway.admin, query),
  },
];

function changesPage(context: RouteContext, visit: Visit): Promise<HttpReply> {
  return changesView(context, visit, {
    base: "/console/operator",
    about:
      "What people and programs changed, by page, API and command line, newest first.",
  });
}
