/**
 * The subset of JSON Schema that the messages format supports for structured output and strict
 * tools. Works on a copy and at schema positions only: a property may be called `pattern`.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
} from "../../bytes/json.ts";
import { lookUp } from "../../turns/schema_reference.ts";

/**
 * Supported formats of strings (from the vendor's client library, `lib/transform-json-schema`,
 * 2026-11).
 */
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

/** Keywords in none of these tables move into the description for the model. */
const KEPT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "title",
  "required",
  "description",
]);
/** Keywords that do not constrain the value. */
const DROPPED_KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
]);
/** Keywords that hold schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "properties",
]);
/** Keywords that hold a list of schemas, and their name in the subset. */
const SCHEMA_LISTS: ReadonlyMap<string, string> = new Map([
  ["anyOf", "anyOf"],
  ["oneOf", "anyOf"],
  ["allOf", "allOf"],
]);

/**
 * Deeper schemas are not converted, so that the recursion cannot exhaust the stack; no real schema
 * is this deep.
 */
const MAX_DEPTH = 200;

/**
 * Further nodes of a schema with combined objects are not converted: references that double at each
 * step would exhaust the memory.
 */
const MAX_NODES = 10_000;

interface Walk {
  readonly root: JsonObject;
  nodes: number;
  /** Whether a reference was replaced by its target. */
  isExpanded: boolean;
}

/**
 * A copy of the schema within the subset; constraints that the subset lacks move into descriptions.
 */
export function strictSchema(schema: JsonObject): JsonObject {
  return convert(schema, { root: schema, nodes: 0, isExpanded: false }, 0);
}

function convert(given: JsonObject, walk: Walk, depth: number): JsonObject {
  walk.nodes++;
  if (depth > MAX_DEPTH || (walk.isExpanded && walk.nodes > MAX_NODES)) {
    return given;
  }
  const schema = joinAllOf(given, walk);
  const inner = (value: unknown): unknown =>
    isObject(value) ? convert(value, walk, depth + 1) : value;
  const out: JsonDraft = {};
  const constraints: string[] = [];
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
    } else if (!DROPPED_KEYWORDS.has(key) && !isOpenness(key, value)) {
      constraints.push(`${key}: ${JSON.stringify(value)}`);
    }
  }
  if (isReference) return referenceOnly(out);
  if (isObjectSchema(schema)) {
    out["type"] ??= "object";
    out["properties"] ??= {};
    out["additionalProperties"] = false;
  }
  if (constraints.length > 0) {
    const before = schema["description"];
    out["description"] = `${
      typeof before === "string" && before !== "" ? `${before}\n\n` : ""
    }{${constraints.join(", ")}}`;
  }
  return out;
}

/**
 * The schema with the objects of its `allOf` in one: each of them is closed, so that apart they
 * would refuse each other's properties and no value would fit. A keyword that two of them have
 * keeps its place in `allOf`. The subset has no references in `allOf`.
 */
function joinAllOf(schema: JsonObject, walk: Walk): JsonObject {
  if (!Array.isArray(schema["allOf"])) return schema;
  const { allOf, ...own } = schema;
  const [only, ...others] = allOf;
  const isAlias = others.length === 0 && isObject(only) &&
    only["$ref"] !== undefined && !isObjectSchema(own);
  if (isAlias) return { ...own, ...only };
  const members = partsOf(schema, walk, new Set(), 0);
  if (!members.some(isObjectSchema)) return schema;
  const out: JsonDraft = {};
  const apart: JsonObject[] = [];
  const required = new Set<unknown>();
  const properties = new Map<string, unknown[]>();
  for (const member of members) {
    for (const name of arrayOr(member["required"])) required.add(name);
    for (const [name, value] of entriesOf(member["properties"])) {
      const before = properties.get(name);
      if (before === undefined) properties.set(name, [value]);
      else before.push(value);
    }
    for (const [key, value] of Object.entries(member)) {
      if (key === "required" || key === "properties") continue;
      if (out[key] === undefined) out[key] = value;
      else if (!KEPT_KEYWORDS.has(key) && !isOpenness(key, value)) {
        apart.push({ [key]: value });
      }
    }
  }
  if (required.size > 0) out["required"] = [...required];
  if (properties.size > 0) {
    out["properties"] = Object.fromEntries(
      [...properties].map(([name, all]) => [
        name,
        all.length === 1 ? all[0] : { allOf: all },
      ]),
    );
  }
  if (apart.length > 0) out["allOf"] = apart;
  return out;
}

/** A schema without its `allOf`, and what is in that; a reference counts once. */
function partsOf(
  schema: JsonObject,
  walk: Walk,
  seen: Set<unknown>,
  depth: number,
): readonly JsonObject[] {
  if (depth > MAX_DEPTH) return [schema];
  const { allOf, $ref: ref, ...own } = schema;
  const target = typeof ref === "string" && !seen.has(ref)
    ? lookUp(walk.root, ref)
    : undefined;
  seen.add(ref);
  if (target !== undefined) walk.isExpanded = true;
  return [
    own,
    ...(target === undefined ? [] : partsOf(target, walk, seen, depth + 1)),
    ...arrayOr(allOf).filter(isObject).flatMap((part) =>
      partsOf(part, walk, seen, depth + 1)
    ),
  ];
}

function entriesOf(value: unknown): readonly [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
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
      return KEPT_KEYWORDS.has(key);
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

/**
 * Whether a keyword only restates that further properties are allowed or not: the subset forbids
 * them and adds the keyword itself.
 */
function isOpenness(key: string, value: unknown): boolean {
  return key === "additionalProperties" && typeof value === "boolean";
}

function isObjectSchema(schema: JsonObject): boolean {
  const type = schema["type"];
  return type === "object" ||
    (Array.isArray(type) && type.includes("object")) ||
    (type === undefined && isObject(schema["properties"]));
}

/** The subset allows only definitions beside a reference. */
function referenceOnly(out: JsonDraft): JsonObject {
  const kept = ["$defs", "definitions", "$ref"] as const;
  return Object.fromEntries(
    kept.filter((key) => out[key] !== undefined).map((key) => [key, out[key]]),
  );
}
