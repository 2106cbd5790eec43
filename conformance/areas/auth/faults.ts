/** Mutants for the checks of the area `auth`. */
