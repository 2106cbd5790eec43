/**
 * Mutants for the checks of the area `limits` about the stop cause and the token counts of a reply.
 */
