import assert from "node:assert/strict";
import type { JsonObject } from "../../bytes/json.ts";
import { openapiSchema } from "./openapi_schema.ts";
import { objectOf } from "../../testing/request_samples.ts";

const CASES: readonly {
  readonly name: string;
  readonly schema: JsonObject;
  readonly expected: JsonObject;
}[] = [
  {
    name: "describes constraints that the subset lacks",
    schema: {
      type: "object",
      dependentRequired: { a: ["b"] },
      properties: {
        a: { type: "integer", multipleOf: 5, description: "Minutes." },
        b: {
          type: "array",
          items: { type: "string" },
          uniqueItems: true,
          not: { const: [] },
        },
        c: { type: "array", items: {}, uniqueItems: false },
        d: { type: "string", not: { enum: ["x".repeat(400)] } },
      },
    },
    expected: {
      type: "object",
      description: 'dependentRequired: {"a":["b"]}.',
      properties: {
        a: { type: "integer", description: "Minutes. multipleOf: 5." },
        b: {
          type: "array",
          items: { type: "string" },
          description: 'uniqueItems: true. not: {"const":[]}.',
        },
        c: { type: "array", items: { type: "string" } },
        d: { type: "string" },
      },
    },
  },
  {
    name: "inlines a local reference and keeps the keywords beside it",
    schema: {
      type: "object",
      properties: { a: { $ref: "#/$defs/A", description: "mine" } },
      $defs: { A: { type: "string", description: "theirs" } },
    },
    expected: objectOf({ a: { type: "string", description: "mine" } }),
  },
  {
    name: "cuts a cycle of references",
    schema: {
      $ref: "#/definitions/Node",
      definitions: {
        Node: objectOf({
          name: { type: "string" },
          next: { $ref: "#/definitions/Node" },
        }),
      },
    },
    expected: objectOf({ name: { type: "string" }, next: { type: "object" } }),
  },
  {
    name: "cuts a reference to the whole and one that leads nowhere",
    schema: objectOf({
      up: { $ref: "#/properties/up" },
      gone: { $ref: "#/$defs/None", description: "d" },
      far: { $ref: "https://example.com/x.json" },
    }),
    expected: objectOf({
      up: { type: "object" },
      gone: { type: "object", description: "d" },
      far: { type: "object" },
    }),
  },
  {
    name: "reads the escapes of a reference",
    schema: {
      $ref: "#/$defs/a~1b%20c",
      $defs: { "a/b c": { type: "integer" } },
    },
    expected: { type: "integer" },
  },
  {
    name: "turns a null type into nullable",
    schema: { type: ["string", "null"] },
    expected: { type: "string", nullable: true },
  },
  {
    name: "turns a null branch into nullable",
    schema: {
      anyOf: [{ type: "integer" }, { type: "null" }],
      description: "d",
    },
    expected: { type: "integer", nullable: true, description: "d" },
  },
  {
    name: "turns several types into branches",
    schema: { type: ["string", "integer", "null"], description: "d" },
    expected: {
      anyOf: [
        { type: "string", description: "d", nullable: true },
        { type: "integer", description: "d", nullable: true },
      ],
    },
  },
  {
    name: "turns a constant into a list of one",
    schema: { const: "x" },
    expected: { type: "string", enum: ["x"] },
  },
  {
    name: "keeps a list of texts without its empty and null ones",
    schema: { enum: ["a", "", null] },
    expected: { type: "string", enum: ["a"], nullable: true },
  },
  {
    name: "keeps the type of a list of numbers and notes the list",
    schema: { enum: [1, 2], description: "How many." },
    expected: { type: "number", description: "How many. One of: 1,2." },
  },
  {
    name:
      "takes oneOf for anyOf, each branch with the description and type around it",
    schema: {
      type: "string",
      description: "d",
      oneOf: [{ format: "date-time" }, { maxLength: 3, description: "own" }],
    },
    expected: {
      anyOf: [
        { type: "string", format: "date-time", description: "d" },
        { type: "string", maxLength: 3, description: "own" },
      ],
    },
  },
  {
    name: "gives a branch the type around it, but not a reference",
    schema: {
      type: "integer",
      anyOf: [{ minimum: 5 }, { $ref: "#/$defs/S" }],
      $defs: { S: { type: "string" } },
    },
    expected: {
      anyOf: [{ type: "integer", minimum: 5 }, { type: "string" }],
    },
  },
  {
    name: "leaves an object whose branches only require an object",
    schema: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    expected: objectOf({ a: { type: "string" }, b: { type: "string" } }),
  },
  {
    name: "merges allOf, references included",
    schema: {
      allOf: [
        { $ref: "#/$defs/A" },
        { properties: { b: { type: "integer" } }, required: ["b"] },
      ],
      $defs: {
        A: objectOf({ a: { type: "string" } }, "a"),
      },
    },
    expected: objectOf(
      { a: { type: "string" }, b: { type: "integer" } },
      "a",
      "b",
    ),
  },
  {
    name: "gives an array without items some",
    schema: { type: "array", minItems: 1 },
    expected: { type: "array", minItems: 1, items: { type: "string" } },
  },
  {
    name: "takes a tuple for an array of any of its items",
    schema: { prefixItems: [{ type: "string" }, { type: "integer" }] },
    expected: {
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "integer" }] },
    },
  },
  {
    name: "keeps known formats and notes the others",
    schema: objectOf({
      at: { type: "string", format: "date-time" },
      n: { type: "integer", format: "int64" },
      url: { type: "string", format: "uri" },
    }),
    expected: objectOf({
      at: { type: "string", format: "date-time" },
      n: { type: "integer", format: "int64" },
      url: { type: "string", description: "Format: uri." },
    }),
  },
  {
    name: "makes exclusive bounds inclusive and notes them, flags too",
    schema: objectOf({
      a: { type: "integer", exclusiveMinimum: 0 },
      b: { type: "number", maximum: 9, exclusiveMaximum: true },
    }),
    expected: objectOf({
      a: {
        type: "integer",
        minimum: 0,
        description: "Must be greater than 0.",
      },
      b: { type: "number", maximum: 9, description: "Must be less than 9." },
    }),
  },
  {
    name: "drops what the subset does not have",
    schema: {
      $schema: "s",
      $id: "i",
      $comment: "c",
      title: "t",
      type: "object",
      additionalProperties: false,
      patternProperties: {},
      propertyNames: {},
      unevaluatedProperties: false,
      if: {},
      then: {},
      else: {},
      not: {},
      dependentRequired: {},
      properties: {
        a: {
          type: "string",
          default: "x",
          examples: ["y"],
          contentEncoding: "base64",
        },
      },
    },
    expected: objectOf({ a: { type: "string" } }),
  },
  {
    name: "filters required to properties that exist, each once",
    schema: objectOf({ a: { type: "string" } }, "a", "a", "b", 3, "toString"),
    expected: objectOf({ a: { type: "string" } }, "a"),
  },
  {
    name: "leaves properties that are called like keywords",
    schema: objectOf(
      {
        default: { type: "string" },
        title: { type: "string" },
        const: { type: "integer" },
        $schema: { type: "string" },
        additional_properties: { type: "boolean" },
        properties: objectOf({ not: { type: "string" } }),
      },
      "default",
      "title",
      "const",
    ),
    expected: objectOf(
      {
        default: { type: "string" },
        title: { type: "string" },
        const: { type: "integer" },
        $schema: { type: "string" },
        additional_properties: { type: "boolean" },
        properties: objectOf({ not: { type: "string" } }),
      },
      "default",
      "title",
      "const",
    ),
  },
  {
    name: "implies a missing type",
    schema: {
      properties: {
        list: { items: { type: "string" } },
        any: {},
        all: true,
        flag: { const: true },
      },
    },
    expected: objectOf({
      list: { type: "array", items: { type: "string" } },
      any: { type: "string" },
      all: { type: "string" },
      flag: { type: "boolean", description: "One of: true." },
    }),
  },
];

Deno.test("openapiSchema() converts each keyword that the subset lacks", async (t) => {
  for (const { name, schema, expected } of CASES) {
    await t.step(name, () => {
      const before = structuredClone(schema);
      assert.deepEqual(openapiSchema(schema), expected);
      assert.deepEqual(schema, before, "the client's schema was written to");
    });
  }
});

Deno.test("openapiSchema() keeps a property called __proto__", () => {
  const schema: JsonObject = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  );
  assert.equal(
    JSON.stringify(openapiSchema(schema)),
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  );
});

Deno.test("openapiSchema() survives depth, doubling references and doubling allOf", async (t) => {
  await t.step("100,000 levels", () => {
    let schema: JsonObject = { type: "string" };
    for (let i = 0; i < 100_000; i++) schema = { type: "array", items: schema };
    const text = JSON.stringify(openapiSchema(schema));
    assert.ok(text.length < 2000, String(text.length));
  });
  await t.step("references that double", () => {
    const defs: { [key: string]: JsonObject } = { d0: { type: "string" } };
    for (let i = 1; i < 60; i++) {
      const below = { $ref: `#/$defs/d${i - 1}` };
      defs[`d${i}`] = objectOf({ a: below, b: below });
    }
    const text = JSON.stringify(
      openapiSchema({ $ref: "#/$defs/d59", $defs: defs }),
    );
    assert.ok(text.length < 500_000, String(text.length));
  });
  await t.step("allOf that doubles itself", () => {
    assert.deepEqual(
      openapiSchema({
        $ref: "#/$defs/A",
        $defs: { A: { allOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }] } },
      }),
      { type: "object" },
    );
  });
});
