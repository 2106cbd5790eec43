/** Mutants for the checks of the area `limits` about which parts of a request are read. */
