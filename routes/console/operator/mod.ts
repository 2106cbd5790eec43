/**
 * All pages for operators.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { callPage } from "../pages/call_page.tsx";
import { callsFile, callsPage } from "../pages/calls.tsx";
import { ledgerCsv, ledgerView } from "../pages/ledger.tsx";
import { findPage } from "../pages/find.tsx";
import { statementCsv, statementPage } from "../pages/statement.tsx";
import { usageCsv, usagePage } from "../pages/usage.tsx";
import { ACCOUNT_CHANGE_PAGES } from "./account_changes.tsx";
import { ACCOUNTS_PAGES } from "./accounts.tsx";
import { ATTEMPTS_PAGE } from "./attempts.tsx";
import { BULK_PAGES } from "./bulk.tsx";
import { CHANGES_PAGES } from "./changes.ts";
import { OPERATOR_KEYS_PAGES } from "./keys.tsx";
import { LIVE_PAGES } from "./live.tsx";
import { OPERATOR_OVERVIEW_ROUTES } from "./overview.tsx";
import { RECONCILE_PAGES } from "./reconcile.tsx";
import { PLANS_PAGES } from "./plans.tsx";
import { SETTINGS_PAGE } from "./settings.tsx";
import { OPERATOR_MODELS_PAGE } from "./models.tsx";
import { UPSTREAMS_PAGE } from "./upstreams.tsx";
import { WEBHOOKS_PAGES } from "./webhooks.tsx";

const BASE = "/console/operator";

/** Usage, calls, ledger and statements are those of an account's area, over all accounts. */
const SHARED_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/statement`,
    handle: (context, visit) =>
      statementPage(context, visit, accountOf(context), BASE),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/statement.csv`,
    handle: (context) => statementCsv(context, accountOf(context)),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/usage`,
    handle: (context, visit) => usagePage(context, visit, {}, BASE),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/usage.csv`,
    handle: (context) => usageCsv(context, {}),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/calls`,
    handle: (context, visit) => callsPage(context, visit, {}, BASE),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/calls.csv`,
    handle: (context) => callsFile(context, {}),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/find`,
    handle: (context, visit) => findPage(context, visit, {}, BASE),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/calls/:id`,
    handle: (context, visit) => callPage(context, visit, {}, BASE),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/ledger`,
    handle: (context, visit) =>
      ledgerView(context, visit, {
        base: BASE,
        about: "Every charge and top-up of all accounts, newest first.",
        fixed: {},
      }),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${BASE}/ledger.csv`,
    handle: ({ gateway, query }) => ledgerCsv(gateway.admin, query, {}),
  },
];

/** The account of the address, which the statement needs. */
function accountOf({ query }: RouteContext): string {
  const account = query.get("account")?.trim() ?? "";
  if (account === "") throw invalidField("account", "choose one");
  return account;
}

/** The routes of the operators' pages. */
export const OPERATOR_PAGES: readonly OperatorPageRoute[] = [
  ...OPERATOR_OVERVIEW_ROUTES,
  UPSTREAMS_PAGE,
  OPERATOR_MODELS_PAGE,
  ATTEMPTS_PAGE,
  ...LIVE_PAGES,
  // Before the page of an account, whose id takes the rest of a path.
  ...ACCOUNT_CHANGE_PAGES,
  ...BULK_PAGES,
  ...ACCOUNTS_PAGES,
  ...PLANS_PAGES,
  ...OPERATOR_KEYS_PAGES,
  ...RECONCILE_PAGES,
  ...WEBHOOKS_PAGES,
  ...SHARED_PAGES,
  ...CHANGES_PAGES,
  SETTINGS_PAGE,
];
