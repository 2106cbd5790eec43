/**
 * Why a line of a charge is not at the base rate, in words for pages and files.
 */
import type { ChargeLine } from "./charge_lines.ts";

/** `speed fast × 6, prompt above 200000`; empty for the base rate. No factor: a rate of its own. */
export function reasonText(
  { reasons = [] }: Pick<ChargeLine, "reasons">,
): string {
  return reasons.map(({ because, factor }) => {
    const words = because.replaceAll(/[=_]/g, " ");
    return factor === undefined ? words : `${words} × ${factor}`;
  }).join(", ");
}
