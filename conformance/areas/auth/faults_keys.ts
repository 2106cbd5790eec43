/** Mutants for the checks of the area `auth` about which keys are accepted. */
