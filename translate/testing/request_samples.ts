/**
 * Parts of requests that several tables send.
 */

/** Base64 of a one-pixel image. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Base64 of the first bytes of a PDF document. */
export const PDF = "JVBERi0xLjQK";

/**
 * A schema that a careless cleaner breaks: JSON Schema keywords both as keywords and as names of
 * properties.
 */
export const HARD_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  required: ["default", "const"],
  properties: {
    default: { type: "string", description: "a property, no keyword" },
    title: { type: "string", title: "Title", minLength: 1 },
    const: { const: "x" },
    $schema: { type: "string" },
    additionalProperties: { type: "boolean", default: false },
    timeout: { type: "integer", exclusiveMinimum: 0, maximum: 600000 },
    answers: {
      type: "object",
      propertyNames: { type: "string" },
      additionalProperties: { type: "string" },
    },
    kind: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
};

/**
 * A tool name longer than the chat format allows (64 characters), as names of MCP tools often are.
 */
export const LONG_NAME =
  "mcp__plugin_a_very_long_server_name_indeed__and_a_very_long_tool_name_too";

/** Another long tool name with the same length and the same beginning. */
export const LONG_NAME_TWO = `${LONG_NAME.slice(0, -3)}two`;
