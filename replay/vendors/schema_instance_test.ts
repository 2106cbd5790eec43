import assert from "node:assert/strict";
import { argumentsOf, instanceOf } from "./schema_instance.ts";
import type { Json } from "../json.ts";

const CASES: readonly (readonly [string, Json, Json])[] = [
  ["no schema as an empty object", {}, {}],
  [
    "required properties only",
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" } },
      required: ["a"],
    },
    { a: "example" },
  ],
  ["the first value of an enum", { type: "string", enum: ["x", "y"] }, "x"],
  ["a constant", { const: 7 }, 7],
  ["an array of its minimum length", {
    type: "array",
    items: { type: "boolean" },
    minItems: 2,
  }, [true, true]],
  ["a number within its bounds", { type: "number", minimum: 3, maximum: 4 }, 3],
  ["a multiple", { type: "integer", minimum: 5, multipleOf: 4 }, 8],
  [
    "a string of its minimum length",
    { type: "string", minLength: 9 },
    "examplexx",
  ],
  ["a date", { type: "string", format: "date" }, "2026-01-02"],
  [
    "the first alternative",
    { anyOf: [{ type: "null" }, { type: "string" }] },
    null,
  ],
  ["the first type that is not null", { type: ["null", "integer"] }, 1],
  ["an instance of types in capitals", {
    type: "OBJECT",
    properties: { n: { type: "NUMBER" } },
    required: ["n"],
  }, { n: 1 }],
  ["an instance of a reference", {
    $defs: { city: { type: "string", enum: ["Oslo"] } },
    type: "object",
    properties: { city: { $ref: "#/$defs/city" } },
    required: ["city"],
  }, { city: "Oslo" }],
  ["an instance of all parts of allOf", {
    allOf: [
      { type: "object", properties: { a: { const: 1 } }, required: ["a"] },
      { properties: { b: { const: 2 } }, required: ["b"] },
    ],
  }, { a: 1, b: 2 }],
];

for (const [what, schema, instance] of CASES) {
  Deno.test(`instanceOf() makes ${what}`, () => {
    assert.deepEqual(instanceOf(schema), instance);
  });
}

Deno.test("instanceOf() ends on a schema that contains itself", () => {
  const node: Json = {
    $defs: {
      node: {
        type: "object",
        properties: { next: { $ref: "#/$defs/node" } },
        required: ["next"],
      },
      loop: { $ref: "#/$defs/loop" },
    },
    type: "object",
    properties: {
      first: { $ref: "#/$defs/node" },
      loop: { $ref: "#/$defs/loop" },
    },
    required: ["first", "loop"],
  };
  assert.equal(typeof instanceOf(node), "object");
});

Deno.test("argumentsOf() returns an object for any schema", () => {
  assert.deepEqual(argumentsOf({ type: "string" }), {});
  assert.deepEqual(argumentsOf(undefined), {});
});
