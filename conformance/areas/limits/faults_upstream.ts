/** Mutants for the checks of the area `limits` about requests upstream and token counts. */
