import type { Door } from "../../../gateway/console/console.ts";

/** The first page behind each door. */
export const HOMES: Readonly<Record<Door, string>> = {
  account: "/console/",
  operator: "/console/operator/",
};
