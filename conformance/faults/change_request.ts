/** Builder of faults that change the request as the reference gateway understood it. */
import type { Context, Hooks } from "../reference_gateway/hooks.ts";
import type { ModelRequest } from "../reference_gateway/part.ts";

/** Replaces members of the request. */
export function asking(
  change:
    | Partial<ModelRequest>
    | ((request: ModelRequest, x: Context) => Partial<ModelRequest>),
): Hooks {
  return {
    modelRequest: (request, x) => ({
      ...request,
      ...typeof change === "function" ? change(request, x) : change,
    }),
  };
}
