/** Mutants for the checks of the area `tools`. */
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const TOOLS_MUTANTS: readonly Mutant[] = [];
