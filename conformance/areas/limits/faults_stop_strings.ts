/** Mutants for the checks about several stop strings. */
