import assert from "node:assert/strict";
import type { JsonObject } from "../../bytes/json.ts";
import { strictSchema } from "./strict_schema.ts";
import { objectOf } from "../../testing/request_samples.ts";

Deno.test("strictSchema() converts a schema to the subset", async (t) => {
  const rows: readonly [string, JsonObject, JsonObject][] = [
    [
      "objects are closed",
      objectOf({ a: { type: "string" } }, "a"),
      {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        additionalProperties: false,
      },
    ],
    [
      "an object that may be null is closed as well",
      { type: ["object", "null"], additionalProperties: true },
      { type: ["object", "null"], properties: {}, additionalProperties: false },
    ],
    [
      "bounds move into the description",
      { type: "integer", minimum: 1, maximum: 9, description: "Of the day." },
      {
        type: "integer",
        description: "Of the day.\n\n{minimum: 1, maximum: 9}",
      },
    ],
    [
      "patterns move, known formats stay, unknown ones move",
      objectOf({
        a: { type: "string", pattern: "^x$" },
        b: { type: "string", format: "date" },
        c: { type: "string", format: "color" },
      }),
      {
        type: "object",
        properties: {
          a: { type: "string", description: '{pattern: "^x$"}' },
          b: { type: "string", format: "date" },
          c: { type: "string", description: '{format: "color"}' },
        },
        additionalProperties: false,
      },
    ],
    [
      "properties may be called like keywords",
      objectOf({
        pattern: { type: "string" },
        default: { type: "number", default: 1 },
        oneOf: { type: "boolean" },
      }),
      {
        type: "object",
        properties: {
          pattern: { type: "string" },
          default: { type: "number", description: "{default: 1}" },
          oneOf: { type: "boolean" },
        },
        additionalProperties: false,
      },
    ],
    [
      "oneOf becomes anyOf, inside lists and items too",
      {
        type: "array",
        minItems: 1,
        maxItems: 3,
        items: { oneOf: [{ type: "object" }, { type: "null" }] },
      },
      {
        type: "array",
        minItems: 1,
        items: {
          anyOf: [
            { type: "object", properties: {}, additionalProperties: false },
            { type: "null" },
          ],
        },
        description: "{maxItems: 3}",
      },
    ],
    [
      "a second list of choices moves",
      { anyOf: [{ type: "string" }], oneOf: [{ type: "null" }] },
      {
        anyOf: [{ type: "string" }],
        description: '{oneOf: [{"type":"null"}]}',
      },
    ],
    [
      "definitions are converted, references have no siblings",
      {
        $schema: "x",
        $defs: { T: { type: "string", minLength: 2 } },
        $ref: "#/$defs/T",
        description: "gone",
      },
      {
        $defs: { T: { type: "string", description: "{minLength: 2}" } },
        $ref: "#/$defs/T",
      },
    ],
    [
      "objects of allOf are one, so that a value fits",
      {
        $defs: {
          Base: {
            type: "object",
            properties: { id: { type: "string" } },
            required: ["id"],
            additionalProperties: true,
          },
        },
        description: "A thing.",
        allOf: [
          { $ref: "#/$defs/Base" },
          objectOf(
            {
              id: { type: "string", minLength: 1 },
              n: { allOf: [{ $ref: "#/$defs/Base" }], description: "gone" },
            },
            "n",
            "id",
          ),
          { anyOf: [{ required: ["n"] }] },
        ],
      },
      {
        $defs: {
          Base: {
            type: "object",
            properties: { id: { type: "string" } },
            required: ["id"],
            additionalProperties: false,
          },
        },
        description: "A thing.",
        type: "object",
        anyOf: [{ required: ["n"] }],
        required: ["id", "n"],
        properties: {
          id: {
            allOf: [{ type: "string" }, {
              type: "string",
              description: "{minLength: 1}",
            }],
          },
          n: { $ref: "#/$defs/Base" },
        },
        additionalProperties: false,
      },
    ],
    [
      "allOf of one reference to itself ends",
      {
        $defs: { A: { type: "object", allOf: [{ $ref: "#/$defs/A" }] } },
        $ref: "#/$defs/A",
      },
      {
        $defs: {
          A: {
            type: "object",
            properties: {},
            additionalProperties: false,
          },
        },
        $ref: "#/$defs/A",
      },
    ],
    [
      "plain literals stay, others move",
      {
        anyOf: [{ enum: ["a", null] }, { const: 1 }, { enum: [{ a: 1 }] }],
      },
      {
        anyOf: [{ enum: ["a", null] }, { const: 1 }, {
          description: '{enum: [{"a":1}]}',
        }],
      },
    ],
  ];
  for (const [name, schema, expected] of rows) {
    await t.step(name, () => {
      const before = structuredClone(schema);
      assert.deepEqual(strictSchema(schema), expected);
      assert.deepEqual(schema, before, "the client's schema was written to");
    });
  }
});

Deno.test("strictSchema() keeps a property called __proto__", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  );
  assert.equal(
    JSON.stringify(strictSchema(schema)),
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
  );
});

Deno.test("strictSchema() accepts schemas nested 100,000 deep", () => {
  const deep: JsonObject = JSON.parse(
    `${'{"type":"array","items":'.repeat(100_000)}{}${"}".repeat(100_000)}`,
  );
  assert.equal(strictSchema(deep)["type"], "array");
});

Deno.test("strictSchema() accepts allOf of any depth and length, and references that double", () => {
  const member = objectOf({ a: { type: "string" } });
  const deep: JsonObject = JSON.parse(
    `${'{"type":"object","allOf":['.repeat(100_000)}{}${"]}".repeat(100_000)}`,
  );
  assert.equal(strictSchema(deep)["additionalProperties"], false);
  const long = strictSchema({ allOf: Array(100_000).fill(member) });
  assert.equal(long["additionalProperties"], false);
  const again = { allOf: [{ $ref: "#/$defs/A" }, { type: "object" }] };
  const doubling = strictSchema({
    $defs: { A: objectOf({ b: again, c: again }) },
    ...again,
  });
  assert.equal(doubling["additionalProperties"], false);
});
