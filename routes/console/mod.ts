/**
 * All pages of the console.
 */
import type { PageRoute } from "../route.ts";
import { type Match, routeTable } from "../route_table.ts";
import { ACCESS_ROUTES } from "./pages/access.tsx";
import { ASSET_ROUTES } from "./assets/assets.ts";
import { CALLS_PAGES } from "./pages/calls.tsx";
import { ACCOUNT_CHANGES_PAGES } from "./pages/changes.tsx";
import { COMPANY_SIGN_IN_ROUTES } from "./pages/company_sign_in.tsx";
import { CONNECT_ROUTES } from "./pages/connect.tsx";
import { FIND_PAGES } from "./pages/find.tsx";
import { KEY_CHANGE_ROUTES } from "./pages/key_changes.tsx";
import { KEY_PAGE } from "./pages/key_page.tsx";
import { KEYS_ROUTES } from "./pages/keys.tsx";
import { LEDGER_PAGES } from "./pages/ledger.tsx";
import { MODEL_PAGE } from "./pages/model_page.tsx";
import { MODELS_PAGES } from "./pages/models.tsx";
import { OPERATOR_PAGES } from "./operator/mod.ts";
import { OVERVIEW_ROUTES } from "./pages/overview.tsx";
import { SIGN_IN_ROUTES } from "./pages/sign_in.tsx";
import { STATEMENT_PAGES } from "./pages/statement.tsx";
import { TRY_PAGE } from "./pages/try.tsx";
import { USAGE_PAGES } from "./pages/usage.tsx";

export { errorPage } from "./pages/error_page.tsx";
export { servePage } from "./http/page_access.ts";

export const PAGE_ROUTES: readonly PageRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...COMPANY_SIGN_IN_ROUTES,
  ...OPERATOR_PAGES,
  ...OVERVIEW_ROUTES,
  ...USAGE_PAGES,
  ...FIND_PAGES,
  ...CALLS_PAGES,
  ...LEDGER_PAGES,
  ...STATEMENT_PAGES,
  ...KEYS_ROUTES,
  ...KEY_CHANGE_ROUTES,
  // After the other pages of keys: its id takes the rest of a path.
  KEY_PAGE,
  ...MODELS_PAGES,
  MODEL_PAGE,
  ...CONNECT_ROUTES,
  TRY_PAGE,
  ...ACCESS_ROUTES,
  ...ACCOUNT_CHANGES_PAGES,
];

export const pageTable: (path: string) => readonly Match[] = routeTable(
  PAGE_ROUTES,
);
