/** Checks of the area `tools`. */
import type { Check } from "../suite/check.ts";

/** The checks. */
export const TOOLS_CHECKS: readonly Check[] = [];
