/**
 * Schemas that requests of the chat and the Responses formats share.
 */
import { z } from "zod";
import type { OutputFormat } from "../../model/request.ts";
import { type Checked, opaqueObject } from "../../model/schema.ts";

/** A function that the model may call. */
export const FUNCTION_SHAPE = {
  name: z.string().min(1).describe("Name of the function."),
  description: z.string().nullish().describe(
    "What the function does and when to call it.",
  ),
  parameters: opaqueObject().nullish().describe(
    "JSON Schema of its arguments; absent for none.",
  ),
  strict: z.boolean().nullish().describe(
    "Whether arguments must keep to the schema exactly.",
  ),
} as const;

/** A tool with free text as input. */
export const FREE_TEXT_SHAPE = {
  name: z.string().min(1),
  description: z.string().nullish(),
  format: z.unknown().optional().describe(
    "Free text, or a grammar that the text must match.",
  ),
} as const;

/** What a reply of a JSON schema must fit. */
export const SCHEMA_SHAPE = {
  name: z.string().nullish(),
  description: z.string().nullish(),
  schema: opaqueObject().nullish(),
  strict: z.boolean().nullish(),
} as const;

/** The neutral form of a required schema. */
export function decodeSchema(
  { name, description, schema, strict }: Checked<
    z.ZodObject<typeof SCHEMA_SHAPE>
  >,
): OutputFormat {
  if (!schema) return { type: "json" };
  return {
    type: "schema",
    ...(name ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
    schema,
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

/** Efforts of reasoning; `none` switches it off. */
export const EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;

/** Types of choices among tools that are objects. */
export const CHOICE_TYPES: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "allowed_tools",
]);

/** Types of forms of the reply. */
export const FORMAT_TYPES: ReadonlySet<string> = new Set([
  "text",
  "json_object",
  "json_schema",
]);
