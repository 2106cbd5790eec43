import assert from "node:assert/strict";
import type { JsonObject } from "../../bytes/json.ts";
import { closedSchema, isStrict } from "./strict_tools.ts";
import { objectOf } from "../../testing/request_samples.ts";

const closed = { additionalProperties: false };
const text = { type: "string" };

Deno.test("closedSchema() closes every object whose properties are all required", () => {
  const open = {
    type: "object",
    properties: {
      list: {
        type: "array",
        items: objectOf({ a: text }, "a"),
      },
      either: { anyOf: [objectOf({}), { type: "null" }] },
    },
    required: ["list", "either"],
    $defs: { d: { type: "object" } },
  };
  assert.deepEqual(closedSchema(open), {
    ...open,
    ...closed,
    properties: {
      list: {
        type: "array",
        items: { ...open.properties.list.items, ...closed },
      },
      either: {
        anyOf: [{ type: "object", properties: {}, ...closed }, {
          type: "null",
        }],
      },
    },
    $defs: { d: { type: "object", ...closed } },
  });
});

Deno.test("closedSchema() returns a closed schema as it is", () => {
  const schema = {
    type: "object",
    properties: { a: text },
    required: ["a"],
    ...closed,
  };
  assert.equal(closedSchema(schema), schema);
  assert.ok(isStrict(schema));
  assert.ok(!isStrict({ type: "array", items: schema }), "a list at the top");
});

const OPEN: Readonly<Record<string, JsonObject>> = {
  "an optional property": objectOf({ a: text }),
  "other properties": { type: "object", additionalProperties: text },
  "an object that is open on purpose": {
    type: "object",
    additionalProperties: true,
  },
  "schemas that are combined": { oneOf: [text] },
  "a keyword that vendors refuse": objectOf(
    { a: { ...text, default: "x" } },
    "a",
  ),
  "an optional property inside": {
    type: "array",
    items: objectOf({ a: text }),
  },
  "an optional property of a choice": {
    anyOf: [text, objectOf({ a: text })],
  },
};

for (const [name, schema] of Object.entries(OPEN)) {
  Deno.test(`closedSchema() changes nothing for ${name}`, () => {
    assert.equal(closedSchema(schema), undefined);
    assert.ok(!isStrict(schema));
  });
}
