/**
 * Refuses parameters that a page does not have: a misspelt filter would show what was not asked
 * for.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { queryOf } from "../../admin/auth.ts";
import type { PageRoute } from "../../route.ts";
import { requireNoNul } from "../../target.ts";

/**
 * Checks the names of a page's parameters.
 *
 * @throws {ApiError} `invalid_request` naming the one that is unknown, given twice, or has a NUL
 */
export function requireKnownQuery(
  { query: known = [] }: Pick<PageRoute, "query">,
  query: URLSearchParams,
): void {
  requireNoNul(query);
  if (known === "any") return;
  for (const name of Object.keys(queryOf(query))) {
    if (known.includes(name)) continue;
    throw new ApiError(
      "invalid_request",
      `this page has no parameter ${JSON.stringify(name.slice(0, 80))}${
        known.length === 0 ? "" : `; it has ${known.join(", ")}`
      }`,
      { retryable: false },
    );
  }
}
