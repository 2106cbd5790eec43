/**
 * Mutants for the checks of the area `transport` about refused requests whose body the target need
 * not read.
 */
