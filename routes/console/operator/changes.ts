/**
 * Who changed what, over all accounts.
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
import { operatorPageRoute } from "../http/page_route.ts";

/** The list, and all of it as a file. */
export const CHANGES_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", OPERATOR_NAV, changesPage, {
    query: [...CHANGE_PARAMETERS, "after"],
    again: changesPage,
  }),
  operatorPageRoute(
    "GET",
    `${OPERATOR_NAV}.csv`,
    ({ gateway, query }) => changesCsv(gateway.admin, query),
    { query: CHANGE_PARAMETERS },
  ),
];

function changesPage(context: RouteContext, visit: Visit): Promise<HttpReply> {
  return changesView(context, visit, {
    base: "/console/operator",
    about:
      "What people and programs changed, by page, API and command line, newest first.",
  });
}
