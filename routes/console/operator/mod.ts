/**
 * All pages for operators.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { CALL_FILTERS } from "../../../gateway/admin/calls.ts";
import { LEDGER_FILTERS } from "../../../gateway/admin/ledger.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { callPage } from "../pages/call_page.tsx";
import { callsFile, callsPage } from "../pages/calls.tsx";
import { ledgerCsv, ledgerView } from "../pages/ledger.tsx";
import { searchedPage } from "../http/searched_page.ts";
import { findPage } from "../pages/find.tsx";
import { statementCsv, statementPage } from "../pages/statement.tsx";
import { usageCsv } from "../pages/usage_csv.ts";
import { usagePage, usageParameters } from "../pages/usage.tsx";
import { LIST_PLACES } from "../parts/sorting.ts";
import { ACCOUNT_CHANGE_PAGES } from "./account_changes.tsx";
import { ACCOUNTS_PAGES } from "./accounts.tsx";
import { ATTEMPTS_PAGE } from "./attempts.tsx";
import { BULK_PAGES } from "./bulk.tsx";
import { CHANGES_PAGES } from "./changes.ts";
import { OPERATOR_KEYS_PAGES } from "./keys.tsx";
import { LIVE_PAGES } from "./live.tsx";
import { OPERATOR_OVERVIEW_ROUTES } from "./overview.tsx";
import { OPERATORS_PAGES } from "./operators.tsx";
import { noticeCount } from "./notice_count.ts";
import { NOTICES_PAGE } from "./notices.tsx";
import { RECONCILE_PAGES } from "./reconcile.tsx";
import { PLANS_PAGES } from "./plans.tsx";
import { SETTINGS_PAGE } from "./settings.tsx";
import { OPERATOR_MODELS_PAGES } from "./models.tsx";
import { UPSTREAMS_PAGE } from "./upstreams.tsx";
import { WEBHOOKS_PAGES } from "./webhooks.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const BASE = "/console/operator";

/** Usage, calls, ledger and statements are those of an account's area, over all accounts. */
const SHARED_PAGES: readonly OperatorPageRoute[] = [
  withFilters(
    "statement",
    ["account", "month"],
    (context, visit) => statementPage(context, visit, accountOf(context), BASE),
  ),
  file(
    "statement",
    ["account", "month"],
    (context) => statementCsv(context, accountOf(context)),
  ),
  withFilters(
    "usage",
    usageParameters(true),
    (context, visit) => usagePage(context, visit, {}, BASE),
  ),
  file("usage", usageParameters(true), (context) => usageCsv(context, {})),
  withFilters(
    "calls",
    [...CALL_FILTERS, ...LIST_PLACES],
    (context, visit) => callsPage(context, visit, {}, BASE),
  ),
  file("calls", CALL_FILTERS, (context) => callsFile(context, {})),
  operatorPageRoute("POST", `${BASE}/search`, searchedPage, {
    scope: "read",
  }),
  operatorPageRoute(
    "GET",
    `${BASE}/find`,
    (context, visit) => findPage(context, visit, {}, BASE),
    { query: ["q"] },
  ),
  operatorPageRoute(
    "GET",
    `${BASE}/calls/:id`,
    (context, visit) => callPage(context, visit, {}, BASE),
  ),
  withFilters(
    "ledger",
    [...LEDGER_FILTERS, ...LIST_PLACES],
    (context, visit) =>
      ledgerView(context, visit, {
        base: BASE,
        about: "Every charge and top-up of all accounts, newest first.",
        fixed: {},
      }),
  ),
  file(
    "ledger",
    [...LEDGER_FILTERS, "format"],
    ({ gateway, query }) => ledgerCsv(gateway.admin, query, {}),
  ),
];

/** The account of the address, which the statement needs. */
function accountOf({ query }: RouteContext): string {
  const account = query.get("account")?.trim() ?? "";
  if (account === "") throw invalidField("account", "choose one");
  return account;
}

/** A page with filters, which is shown again with the problem of a refused one. */
function withFilters(
  name: string,
  query: readonly string[],
  handle: OperatorPageRoute["handle"],
): OperatorPageRoute {
  return {
    ...file(name, query, handle),
    path: `${BASE}/${name}`,
    again: handle,
  };
}

function file(
  name: string,
  query: readonly string[],
  handle: OperatorPageRoute["handle"],
): OperatorPageRoute {
  return operatorPageRoute("GET", `${BASE}/${name}.csv`, handle, { query });
}

/** With the number of notices, which the frame of every page shows. */
function withNotices(route: OperatorPageRoute): OperatorPageRoute {
  if (route.isBackground === true || route.path.endsWith(".csv")) return route;
  const addNoticeCount = (handle: OperatorPageRoute["handle"]) =>
  async (
    context: RouteContext,
    visit: Visit,
  ): Promise<HttpReply> => {
    const notices = await noticeCount(context.gateway);
    return await handle(context, {
      ...visit,
      ...(notices === undefined ? {} : { notices }),
    });
  };
  return {
    ...route,
    handle: addNoticeCount(route.handle),
    ...(route.again === undefined
      ? {}
      : { again: addNoticeCount(route.again) }),
  };
}

export const OPERATOR_PAGES: readonly OperatorPageRoute[] = [
  ...OPERATOR_OVERVIEW_ROUTES,
  NOTICES_PAGE,
  UPSTREAMS_PAGE,
  ...OPERATOR_MODELS_PAGES,
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
  ...OPERATORS_PAGES,
  ...SHARED_PAGES,
  ...CHANGES_PAGES,
  SETTINGS_PAGE,
].map(withNotices);
