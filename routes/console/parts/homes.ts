import type { Area } from "../../../gateway/console/console.ts";

/** The first page of each area. */
export const HOMES: Readonly<Record<Area, string>> = {
  account: "/console/",
  operator: "/console/operator/",
};
