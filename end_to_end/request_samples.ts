/**
 * Pieces of requests that several tables send: tools as Claude Code writes them, bytes, a schema for structured output.
 *
 * @module
 */

/** A one-pixel picture. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The beginning of a document. */
export const PDF = "JVBERi0xLjQK";

/** A schema with everything that a naive cleaner stumbles over: keywords at schema positions and as names of properties. */
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

/** What a tool may be called at most in the chat format; this one is longer, as names of MCP tools are. */
export const LONG_NAME =
  "mcp__plugin_a_very_long_server_name_indeed__and_a_very_long_tool_name_too";

/** Another of its length that begins alike. */
export const LONG_NAME_TWO = `${LONG_NAME.slice(0, -3)}two`;
