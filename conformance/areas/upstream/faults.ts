/** Mutants for the checks of the area `upstream`. */
import type { Hooks } from "../../reference_gateway/hooks.ts";

/** A stream that broke off ends as if it were complete. */
export const breakBecomesEnd: Hooks = {
  part: (part) => part.type === "failed" ? [] : [part],
};
