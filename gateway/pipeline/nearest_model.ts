/**
 * Suggests a model for an unknown id: one with a similar spelling, or the one whose public vendor
 * name it is.
 */
import { closestMatch } from "leven";
import { catalogue } from "../upstream/catalogue/catalogue.ts";

/** A longer id is not a typing error, and comparing it is slow. */
const MAX_CHARS = 200;

/**
 * Ids of the built-in models by their vendors' public names. Vendor names from the overrides file
 * are left out: the operator may keep them private.
 */
const PUBLIC_NAMES: ReadonlyMap<string, string> = new Map(
  catalogue().models.map(({ id, upstreamModel }) =>
    [upstreamModel.toLowerCase(), id] as const
  ).toReversed(),
);

/** The nearest of `ids`; undefined if none is near. */
export function nearestModel(
  wanted: string,
  ids: readonly string[],
): string | undefined {
  if (wanted.length > MAX_CHARS) return undefined;
  // Other gateways and dated releases write `vendor/model`, `model-20251001` or `model-latest`.
  const text = wanted.trim().toLowerCase().replace(/^.*\//, "");
  const undated = text.replace(/-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$/, "");
  const own = PUBLIC_NAMES.get(text) ?? PUBLIC_NAMES.get(undated);
  if (own !== undefined && ids.includes(own)) return own;
  const near = closestMatch(undated, ids.map((id) => id.toLowerCase()), {
    maxDistance: Math.max(1, Math.floor(undated.length / 5)),
  });
  return near === undefined
    ? undefined
    : ids.find((id) => id.toLowerCase() === near);
}
