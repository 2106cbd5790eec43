/**
 * All pages of the console.
 *
 * @module
 */
import type { PageRoute } from "../route.ts";
import { ACCESS_ROUTES } from "./access.tsx";
import { ASSET_ROUTES } from "./assets.ts";
import { CONNECT_ROUTES } from "./connect.tsx";
import { KEYS_ROUTES } from "./keys.tsx";
import { MODELS_PAGE } from "./models.tsx";
import { OPERATOR_OVERVIEW_ROUTES } from "./operator/overview.tsx";
import { OVERVIEW_ROUTES } from "./overview.tsx";
import { SIGN_IN_ROUTES } from "./sign_in.tsx";

/** The routes of the pages. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OPERATOR_OVERVIEW_ROUTES,
  ...OVERVIEW_ROUTES,
  ...KEYS_ROUTES,
  MODELS_PAGE,
  ...CONNECT_ROUTES,
  ...ACCESS_ROUTES,
];
