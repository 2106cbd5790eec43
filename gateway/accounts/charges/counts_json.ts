/**
 * Tokens, or their prices, by kind in their JSON form.
 */
import { z } from "zod";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { Tokens } from "./money.ts";

/** The schema of {@linkcode countsJson}. */
export const COUNTS = z.object({
  input: z.int(),
  cache_read: z.int(),
  cache_write: z.int(),
  output: z.int(),
});

/** The JSON form of counts; of a card, its four base rates. */
export function countsJson(counts: Tokens): JsonObject {
  return {
    input: counts.input,
    cache_read: counts.cacheRead,
    cache_write: counts.cacheWrite,
    output: counts.output,
  };
}
