/** The JSON Schema of tools and output formats in the seed requests. */
export const SCHEMA = {
  type: "object",
  properties: {
    x: { type: ["number", "null"], enum: [1, null] },
    y: { $ref: "#/$defs/n" },
    z: { anyOf: [{ type: "string" }, { type: "null" }], default: "d" },
  },
  $defs: { n: { type: "array", items: { const: "c" }, minItems: 1 } },
  required: ["x"],
  additionalProperties: false,
};
