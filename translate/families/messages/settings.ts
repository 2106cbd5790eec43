/**
 * What rows of settings of the messages and the Converse formats share.
 */

/** Temperatures that the formats accept. */
export const TEMPERATURES: readonly [least: number, most: number] = [0, 1];

/**
 * The stop strings that are not blank, because the formats refuse blank ones; undefined where none
 * is left.
 */
export function withoutBlank(
  stops: readonly string[],
  use: { drop(): void },
): readonly string[] | undefined {
  const kept = stops.filter((stop) => stop.trim() !== "");
  if (stops.some((stop) => stop !== "" && stop.trim() === "")) use.drop();
  return kept.length === 0 ? undefined : kept;
}
