/** The version of the program; equal to the one in `deno.json`. */
export const VERSION = "0.9.0";
