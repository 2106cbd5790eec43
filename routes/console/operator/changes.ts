/**
 * Who changed what, over all accounts.
 *
 * @module
 */
import type { OperatorPageRoute } from "../../route.ts";
import { changesCsv, changesView, OPERATOR_NAV } from "../pages/changes.tsx";

/** The list, and all of it as a file. */
export const CHANGES_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: OPERATOR_NAV,
    handle: (context, visit) =>
      changesView(context, visit, {
        base: "/console/operator",
        about:
          "What people and programs changed, by page, API and command line, newest first.",
      }),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${OPERATOR_NAV}.csv`,
    handle: ({ gateway, query }) => changesCsv(gateway.admin, query),
  },
];
