/**
 * Parts of requests that several tables send.
 */

import { compact } from "../bytes/compact.ts";
import type { JsonObject } from "../bytes/json.ts";
import type { DocumentPart, ImagePart } from "../model/request.ts";

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

/** A text, in the neutral request as in the messages and chat formats. */
export const text = (
  words: string,
): { readonly type: "text"; readonly text: string } => ({
  type: "text",
  text: words,
});
/** An image by its address, in the neutral request as in the messages format. */
export const imageAt = (url: string): ImagePart => ({
  type: "image",
  source: { type: "url", url },
});
/** A document by its address, in the neutral request as in the messages format. */
export const documentAt = (url: string): DocumentPart => ({
  type: "document",
  source: { type: "url", url },
});

/** `type: "object"` with these properties, the named ones required. */
export function objectOf(
  properties: JsonObject,
  ...required: readonly unknown[]
): JsonObject {
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}

const message = (role: string, content: readonly unknown[]): JsonObject => ({
  role,
  content: content.length === 1 && typeof content[0] === "string"
    ? content[0]
    : content,
});
/** A message of the user: one text, or parts. */
export const user = (...content: readonly unknown[]): JsonObject =>
  message("user", content);
/** A message of the assistant: one text, or parts. */
export const assistant = (...content: readonly unknown[]): JsonObject =>
  message("assistant", content);

/** A body of these messages. */
export const messagesOf = (
  ...messages: readonly unknown[]
): { readonly messages: readonly unknown[] } => ({ messages });
/** A body of these contents of the generate-content format. */
export const contentsOf = (
  ...contents: readonly unknown[]
): { readonly contents: readonly unknown[] } => ({ contents });
/** A body of these items of the Responses format. */
export const inputOf = (
  ...input: readonly unknown[]
): { readonly input: readonly unknown[] } => ({ input });

/** A call in the messages format. */
export const toolUse = (
  id: unknown,
  name: unknown = "f",
  input: unknown = {},
): JsonObject => ({ type: "tool_use", id, name, input });
/** The result of a call in the messages format. */
export const toolResult = (
  tool_use_id: unknown,
  content?: unknown,
  rest: object = {},
): JsonObject => ({
  type: "tool_result",
  tool_use_id,
  ...compact({ content }),
  ...rest,
});

/** A tool of the messages format with a schema that few formats can express. */
export const hardTool = (name: string, rest: object = {}): JsonObject => ({
  name,
  description: "d",
  input_schema: HARD_SCHEMA,
  ...rest,
});

export const chatCall = (
  id: unknown,
  name: unknown = "f",
  args: unknown = "{}",
): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
/** A message of the assistant with calls in the chat format. */
export const calling = (
  content: unknown,
  ...tool_calls: readonly unknown[]
): JsonObject => ({ role: "assistant", content, tool_calls });
/** The result of a call in the chat format. */
export const toolMessage = (
  tool_call_id: unknown,
  content: unknown,
): JsonObject => ({ role: "tool", tool_call_id, content });
/** A function in the chat format. */
export const chatTool = (
  name: string,
  parameters?: JsonObject,
): JsonObject => ({
  type: "function",
  function: { name, ...compact({ parameters }) },
});

/** A call in the Responses format. */
export const callItem = (
  call_id: unknown,
  name: unknown = "f",
  args: unknown = "{}",
): JsonObject => ({ type: "function_call", call_id, name, arguments: args });
/** The result of a call in the Responses format. */
export const outputItem = (call_id: unknown, output: unknown): JsonObject => ({
  type: "function_call_output",
  call_id,
  output,
});

/** A content of the generate-content format. */
export const contentBy = (
  role: string,
  ...parts: readonly unknown[]
): JsonObject => ({ role, parts });
/** A call in the generate-content format. */
export const functionCall = (
  name: unknown,
  args?: unknown,
  id?: unknown,
): JsonObject => ({
  functionCall: { ...compact({ id }), name, ...compact({ args }) },
});
/** The result of a call in the generate-content format. */
export const functionResponse = (
  name: unknown,
  response: unknown,
  id?: unknown,
): JsonObject => ({ functionResponse: { ...compact({ id }), name, response } });
