/**
 * All pages of the console.
 *
 * @module
 */
import type { PageRoute } from "../route.ts";
import { type Match, routeTable } from "../route_table.ts";
import { ACCESS_ROUTES } from "./access.tsx";
import { ASSET_ROUTES } from "./assets.ts";
import { CALLS_PAGES } from "./calls.tsx";
import { ACCOUNT_CHANGES_PAGES } from "./changes.tsx";
import { CONNECT_ROUTES } from "./connect.tsx";
import { KEY_CHANGE_ROUTES } from "./key_changes.tsx";
import { KEYS_ROUTES } from "./keys.tsx";
import { LEDGER_PAGES } from "./ledger.tsx";
import { MODELS_PAGES } from "./models.tsx";
import { OPERATOR_PAGES } from "./operator/mod.ts";
import { OVERVIEW_ROUTES } from "./overview.tsx";
import { SIGN_IN_ROUTES } from "./sign_in.tsx";
import { TRY_PAGE } from "./try.tsx";
import { USAGE_PAGES } from "./usage.tsx";

export { errorPage } from "./error_page.tsx";
export { servePage } from "./page_access.ts";

/** The routes of the pages. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OPERATOR_PAGES,
  ...OVERVIEW_ROUTES,
  ...USAGE_PAGES,
  ...CALLS_PAGES,
  ...LEDGER_PAGES,
  ...KEYS_ROUTES,
  ...KEY_CHANGE_ROUTES,
  ...MODELS_PAGES,
  ...CONNECT_ROUTES,
  TRY_PAGE,
  ...ACCESS_ROUTES,
  ...ACCOUNT_CHANGES_PAGES,
];

/** The pages of a path. */
export const pageTable: (path: string) => readonly Match[] = routeTable(
  PAGE_ROUTES,
);
