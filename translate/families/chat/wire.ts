/**
 * Types and schemas that requests of the chat and the Responses formats share.
 */
import { z } from "zod";
import type { JsonObject } from "../../bytes/json.ts";
import type { OutputFormat } from "../../model/request.ts";
import { type Maybe, opaqueObject } from "../../model/schema.ts";

/**
 * A part, item, call, tool or format of an unknown type: newer than this gateway, or specific to a
 * vendor.
 */
export interface UnknownObject {
  /** The value of the `type` field. */
  readonly type: string;
  /** Its other fields, unchecked. */
  readonly [key: string]: unknown;
}

/**
 * A schema for objects of an unknown type. Its check aborts, so that a union reports the error of
 * the known type instead of this branch.
 */
export function ofUnknownType(
  known: ReadonlySet<string>,
  note: string,
): z.ZodType<UnknownObject> {
  return z.looseObject({
    type: z.string().refine((type) => !known.has(type), {
      abort: true,
      error: "known type with other fields",
    }),
  }).describe(note);
}

/** A function that the model may call. */
export interface FunctionFields {
  /** Name of the function. */
  readonly name: string;
  /** What the function does and when to call it. */
  readonly description?: Maybe<string>;
  /** JSON Schema of its arguments; absent for none. */
  readonly parameters?: Maybe<JsonObject>;
  /** Whether arguments must keep to the schema exactly. */
  readonly strict?: Maybe<boolean>;
}

/** A tool with free text as input. */
export interface FreeTextFields {
  /** Name of the tool. */
  readonly name: string;
  /** What the tool does and when to call it. */
  readonly description?: Maybe<string>;
  /** Any text, or a grammar that it must match. */
  readonly format?: unknown;
}

/** The schemas of {@linkcode FunctionFields}. */
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

/** The schemas of {@linkcode FreeTextFields}. */
export const FREE_TEXT_SHAPE = {
  name: z.string().min(1),
  description: z.string().nullish(),
  format: z.unknown().optional().describe(
    "Free text, or a grammar that the text must match.",
  ),
} as const;

/** What a reply of a JSON schema must fit. */
export interface SchemaFields {
  /** For the model. */
  readonly name?: Maybe<string>;
  /** For the model. */
  readonly description?: Maybe<string>;
  /** Absent: any JSON. */
  readonly schema?: Maybe<JsonObject>;
  /** Whether the reply must keep to the schema exactly. */
  readonly strict?: Maybe<boolean>;
}

/** The schemas of {@linkcode SchemaFields}. */
export const SCHEMA_SHAPE = {
  name: z.string().nullish(),
  description: z.string().nullish(),
  schema: opaqueObject().nullish(),
  strict: z.boolean().nullish(),
} as const;

/** The neutral form of a required schema. */
export function decodeSchema(
  { name, description, schema, strict }: SchemaFields,
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
