/**
 * Converts the format's own schemas (`parameters`, `responseSchema`: a subset of OpenAPI with types
 * in capitals) to JSON Schema. `openapi_schema.ts` is the inverse.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
} from "../../bytes/json.ts";

/** Keywords of the subset that JSON Schema has under another name. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ["any_of", "anyOf"],
  ["min_items", "minItems"],
  ["max_items", "maxItems"],
  ["min_length", "minLength"],
  ["max_length", "maxLength"],
  ["min_properties", "minProperties"],
  ["max_properties", "maxProperties"],
  ["additional_properties", "additionalProperties"],
]);
/** Keywords without a counterpart; they limit nothing. */
const OMITTED: ReadonlySet<string> = new Set([
  "nullable",
  "propertyOrdering",
  "property_ordering",
  "example",
]);
/** Bounds, which the format may write as text. */
const BOUNDS: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);
/** Types whose listed values the format writes as text. */
const NUMBERS: ReadonlySet<unknown> = new Set([
  "INTEGER",
  "NUMBER",
  "integer",
  "number",
]);
/** Formats that repeat what the type states. */
const PLAIN_FORMATS: ReadonlySet<unknown> = new Set(["enum", "string"]);

/** A deeper schema allows anything. */
const MAX_DEPTH = 100;

/** The schema as JSON Schema; the input is not modified. */
export function jsonSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const below = (value: unknown): unknown =>
    isObject(value) ? jsonSchema(value, depth + 1) : value;
  const out: JsonDraft = {};
  for (const [given, value] of Object.entries(schema)) {
    const key = RENAMED.get(given) ?? given;
    if (OMITTED.has(key) || value === null) continue;
    if (key === "type") {
      if (value !== "TYPE_UNSPECIFIED") out[key] = typeOf(value);
    } else if (key === "properties" && isObject(value)) {
      // fromEntries instead of assignment, because a property may be called __proto__.
      out[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, below(inner)]),
      );
    } else if (key === "anyOf" || key === "prefixItems") {
      out[key] = arrayOr(value).map(below);
    } else if (key === "items" || key === "additionalProperties") {
      out[key] = below(value);
    } else if (BOUNDS.has(key) && typeof value === "string") {
      out[key] = Number(value);
    } else if (key === "enum" && NUMBERS.has(schema["type"])) {
      out[key] = arrayOr(value).map((one) =>
        typeof one === "string" ? Number(one) : one
      );
    } else if (key !== "format" || !PLAIN_FORMATS.has(value)) out[key] = value;
  }
  return schema["nullable"] === true ? orNull(out) : out;
}

function typeOf(type: unknown): unknown {
  return typeof type === "string"
    ? type.toLowerCase()
    : Array.isArray(type)
    ? type.map(typeOf)
    : type;
}

function orNull(schema: JsonDraft): JsonObject {
  const { type, anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) {
    return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  }
  if (typeof type !== "string") return schema;
  return {
    ...schema,
    type: [type, "null"],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
