/**
 * The subset of JSON Schema that the messages format takes for structured output and strict tools. Works at schema positions
 * only and on a copy: a property may be called `pattern`.
 *
 * @module
 */
import { isObject, type JsonDraft, type JsonObject } from "../json.ts";

/** Formats of strings that are understood (the vendor's client library, `lib/transform-json-schema`, read 2026-11). */
const STRING_FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Fields that are kept as they are. What is in no table is told to the model in the description instead. */
const KEPT: ReadonlySet<string> = new Set([
  "type",
  "title",
  "required",
  "description",
]);
/** Fields that say nothing about the value. */
const DROPPED: ReadonlySet<string> = new Set(["$schema", "$id", "$comment"]);
/** Fields that hold schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "properties",
]);
/** Fields that hold a list of schemas, and their name in the subset. */
const SCHEMA_LISTS: ReadonlyMap<string, string> = new Map([
  ["anyOf", "anyOf"],
  ["oneOf", "anyOf"],
  ["allOf", "allOf"],
]);

/** Deeper schemas stay as they are: nobody means them, and the walk must not exhaust the stack. */
const MAX_DEPTH = 200;

/** A copy of the schema within the subset; what the subset cannot say moves into descriptions. */
export function strictSchema(schema: JsonObject): JsonObject {
  return walked(schema, 0);
}

function walked(schema: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const inner = (value: unknown): unknown =>
    isObject(value) ? walked(value, depth + 1) : value;
  const out: JsonDraft = {};
  const said: string[] = [];
  const isReference = schema["$ref"] !== undefined;
  for (const [key, value] of Object.entries(schema)) {
    if (SCHEMA_MAPS.has(key) && isObject(value)) {
      out[key] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, inner(one)]),
      );
      continue;
    }
    const list = SCHEMA_LISTS.get(key);
    if (list !== undefined && Array.isArray(value) && out[list] === undefined) {
      out[list] = value.map(inner);
    } else if (key === "items" && isObject(value)) {
      out[key] = inner(value);
    } else if (isKept(key, value)) {
      out[key] = value;
    } else if (!DROPPED.has(key) && !isOpenness(key, value)) {
      said.push(`${key}: ${JSON.stringify(value)}`);
    }
  }
  if (isReference) return referenceOnly(out);
  if (isObjectSchema(schema)) {
    out["type"] ??= "object";
    out["properties"] ??= {};
    out["additionalProperties"] = false;
  }
  if (said.length > 0) {
    const before = schema["description"];
    out["description"] = `${
      typeof before === "string" && before !== "" ? `${before}\n\n` : ""
    }{${said.join(", ")}}`;
  }
  return out;
}

function isKept(key: string, value: unknown): boolean {
  switch (key) {
    case "$ref":
      return true;
    case "enum":
      return Array.isArray(value) && value.length > 0 &&
        value.every(isPrimitive);
    case "const":
      return isPrimitive(value);
    case "format":
      return STRING_FORMATS.has(value);
    case "minItems":
      return value === 0 || value === 1;
    default:
      return KEPT.has(key);
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

/** Whether further properties are allowed: the subset allows none, and says so itself. */
function isOpenness(key: string, value: unknown): boolean {
  return key === "additionalProperties" && typeof value === "boolean";
}

function isObjectSchema(schema: JsonObject): boolean {
  const type = schema["type"];
  return type === "object" ||
    (Array.isArray(type) && type.includes("object")) ||
    (type === undefined && isObject(schema["properties"]));
}

/** A reference takes no neighbours but definitions. */
function referenceOnly(out: JsonDraft): JsonObject {
  const kept = ["$defs", "definitions", "$ref"] as const;
  return Object.fromEntries(
    kept.filter((key) => out[key] !== undefined).map((key) => [key, out[key]]),
  );
}
