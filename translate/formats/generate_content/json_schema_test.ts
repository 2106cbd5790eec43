import assert from "node:assert/strict";
import { jsonSchema } from "./json_schema.ts";

Deno.test("jsonSchema() converts the subset's types, bounds and names", () => {
  assert.deepEqual(
    jsonSchema({
      type: "OBJECT",
      nullable: true,
      description: "d",
      property_ordering: ["type"],
      properties: {
        type: { type: "STRING", format: "enum", enum: ["a"], nullable: true },
        nullable: { type: "ARRAY", items: { type: "INTEGER" }, minItems: "2" },
        grade: { type: "INTEGER", enum: ["1", "2"], maximum: "2" },
        date: { type: "STRING", format: "date-time", example: "x" },
        either: {
          any_of: [{ type: "NUMBER" }, { type: "BOOLEAN" }],
          nullable: true,
        },
        any: { type: "TYPE_UNSPECIFIED" },
      },
      required: ["type"],
    }),
    {
      type: ["object", "null"],
      description: "d",
      properties: {
        type: { type: ["string", "null"], enum: ["a", null] },
        nullable: { type: "array", items: { type: "integer" }, minItems: 2 },
        grade: { type: "integer", enum: [1, 2], maximum: 2 },
        date: { type: "string", format: "date-time" },
        either: {
          anyOf: [{ type: "number" }, { type: "boolean" }, { type: "null" }],
        },
        any: {},
      },
      required: ["type"],
    },
  );
});

Deno.test("jsonSchema() survives depth and a property called __proto__", () => {
  let deep: Record<string, unknown> = { type: "STRING" };
  for (let i = 0; i < 5_000; i++) deep = { type: "ARRAY", items: deep };
  assert.equal(jsonSchema(deep)["type"], "array");
  const properties = JSON.parse('{"__proto__":{"type":"STRING"}}');
  assert.equal(
    JSON.stringify(jsonSchema({ properties })),
    '{"properties":{"__proto__":{"type":"string"}}}',
  );
});
