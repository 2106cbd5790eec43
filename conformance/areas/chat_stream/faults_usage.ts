/** Mutants for the checks of the area `chat_stream`: the token counts of a stream. */
