import { z } from "zod";
import { isObject } from "../bytes/json.ts";

/** The names of all properties in a schema. */
export function schemaKeys(schema: z.ZodType): readonly string[] {
  return [...keysIn(z.toJSONSchema(schema, { unrepresentable: "any" }))];
}

function* keysIn(schema: unknown): Generator<string> {
  if (Array.isArray(schema)) {
    for (const one of schema) yield* keysIn(one);
  } else if (isObject(schema)) {
    if (isObject(schema["properties"])) {
      yield* Object.keys(schema["properties"]);
    }
    yield* keysIn(Object.values(schema));
  }
}
