/**
 * The schemas of functions' arguments.
 */
import type { JsonObject } from "../bytes/json.ts";

/** The schema of a function without arguments. */
export const EMPTY_SCHEMA: JsonObject = { type: "object", properties: {} };

/** A schema with an object at the top, as upstreams require; a client's own is used as it is. */
export function objectSchema(schema: JsonObject = EMPTY_SCHEMA): JsonObject {
  if (schema["type"] === "object") return schema;
  return Object.keys(schema).length === 0
    ? EMPTY_SCHEMA
    : { ...schema, type: "object" };
}
