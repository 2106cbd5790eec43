/**
 * The routes of the API and of the console.
 */
import { PAGE_ROUTES } from "../../routes/console/mod.ts";
import { ROUTES } from "../../routes/mod.ts";
import type { Route } from "../../routes/route.ts";

export const ALL_ROUTES: readonly Route[] = [...ROUTES, ...PAGE_ROUTES];
