import type { JsonObject } from "../translate/bytes/json.ts";
import { readBody } from "./generation.ts";
import type { RouteContext } from "./route.ts";

/** The body, or an empty object if there is none: some changes need no body. */
export async function optionalBody(
  context: RouteContext,
): Promise<JsonObject> {
  const { body, headers } = context.request;
  if (body === null || headers.get("content-length") === "0") return {};
  return (await readBody(context)).json;
}
