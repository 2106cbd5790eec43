/**
 * Converts JSON Schema to the OpenAPI subset that older models accept as `parameters` and
 * `responseSchema`. Works on a copy and at schema positions only, so that a property called
 * `default` or `title` is unchanged. Not used for models that accept JSON Schema.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
} from "../../bytes/json.ts";
import { lookUp } from "../../turns/schema_reference.ts";

/** A deeper schema becomes `{type: "object"}`: recursive references would never end. */
const MAX_DEPTH = 24;

/**
 * Further nodes become `{type: "object"}`: references that double at each step would exhaust the
 * memory.
 */
const MAX_NODES = 4000;

/** Keywords that both sides have and that need no conversion. */
const SHARED_KEYWORDS: readonly string[] = [
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];

/** Constraints that the subset lacks; the description names them where they are short. */
const NOTED_KEYWORDS: readonly string[] = [
  "multipleOf",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "not",
  "if",
  "then",
  "else",
];

/** A longer constraint could be repeated at every node that a reference leads to. */
const MAX_NOTE = 400;

const TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
]);

const FORMATS: Readonly<Record<string, ReadonlySet<string>>> = {
  string: new Set(["enum", "date-time"]),
  number: new Set(["float", "double"]),
  integer: new Set(["int32", "int64"]),
};

/**
 * The type of a schema without one, which the subset requires; other keywords are valid beside it.
 */
const DEFAULT_TYPE = "string";

interface Walk {
  readonly root: JsonObject;
  nodes: number;
  /** Constraints as text, each written once however many references lead to it. */
  readonly texts: Map<unknown, string>;
}

/** The schema in the OpenAPI subset; the input is not modified. */
export function openapiSchema(schema: JsonObject): JsonObject {
  return rewrite(
    schema,
    {
      root: schema,
      nodes: 0,
      texts: new Map(),
    },
    0,
    [],
  );
}

function rewrite(
  given: unknown,
  walk: Walk,
  depth: number,
  within: readonly string[],
): JsonDraft {
  walk.nodes++;
  if (depth > MAX_DEPTH || walk.nodes > MAX_NODES) return { type: "object" };
  if (!isObject(given)) return { type: DEFAULT_TYPE };
  const { node, refs } = flatten(given, walk, within);
  if (node === undefined) return withDescription({ type: "object" }, given);
  const { types, nullable: nullType } = typesOf(node);
  const values = valuesOf(node);
  const branches = [...arrayOr(node["anyOf"]), ...arrayOr(node["oneOf"])];
  const alternatives = branches.filter((branch) => !isNullSchema(branch));
  const nullable = nullType || node["nullable"] === true ||
    values?.includes(null) === true || alternatives.length < branches.length;
  const into = (schema: JsonDraft): JsonDraft =>
    nullable ? { ...schema, nullable: true } : schema;

  // An object with alternatives such as "one of these is required" stays an object: the subset
  // allows nothing beside anyOf.
  if (alternatives.length > 0 && !isObject(node["properties"])) {
    const rewritten = alternatives.map((branch) =>
      withDescription(
        rewrite(withType(branch, node), walk, depth + 1, refs),
        node,
      )
    );
    const [only] = rewritten;
    return rewritten.length === 1 && only !== undefined
      ? into(only)
      : { anyOf: rewritten.map(into) };
  }
  if (types.length > 1) {
    return {
      anyOf: types.map((type) =>
        into(rewrite({ ...node, type }, walk, depth + 1, refs))
      ),
    };
  }
  return into(
    plain(node, types[0] ?? impliedType(node, values), values, {
      walk,
      depth,
      refs,
    }),
  );
}

function plain(
  node: JsonObject,
  type: string,
  values: readonly unknown[] | undefined,
  at: { walk: Walk; depth: number; refs: readonly string[] },
): JsonDraft {
  const out: JsonDraft = { type };
  const notes: string[] = [];
  const below = (schema: unknown): JsonDraft =>
    rewrite(schema, at.walk, at.depth + 1, at.refs);
  for (const keyword of SHARED_KEYWORDS) {
    if (node[keyword] !== undefined) out[keyword] = node[keyword];
  }
  const format = node["format"];
  if (typeof format === "string") {
    if (FORMATS[type]?.has(format) === true) out["format"] = format;
    else notes.push(`Format: ${format}.`);
  }
  exclusive(node, out, notes);
  for (const keyword of NOTED_KEYWORDS) {
    const value = node[keyword];
    if (value === undefined || value === false) continue;
    const text = at.walk.texts.get(value) ?? JSON.stringify(value);
    at.walk.texts.set(value, text);
    if (text !== "{}" && text.length <= MAX_NOTE) {
      notes.push(`${keyword}: ${text}.`);
    }
  }
  if (values !== undefined) {
    const words = values.filter((value) => value !== null && value !== "");
    if (type === "string" && words.every((w) => typeof w === "string")) {
      if (words.length > 0) out["enum"] = words;
    } else notes.push(`One of: ${words.map((w) => JSON.stringify(w)).join()}.`);
  }
  if (type === "array") {
    const items = [
      ...arrayOr(node["prefixItems"]),
      ...(Array.isArray(node["items"]) ? node["items"] : []),
      ...(isObject(node["items"]) ? [node["items"]] : []),
    ].map(below);
    const [first] = items;
    out["items"] = items.length > 1
      ? { anyOf: items }
      : first ?? { type: DEFAULT_TYPE };
  }
  const properties = node["properties"];
  if (type === "object" && isObject(properties)) {
    // fromEntries instead of assignment, because a property may be called __proto__.
    out["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, below(value)]),
    );
    const required = [...new Set(arrayOr(node["required"]))].filter((name) =>
      typeof name === "string" && Object.hasOwn(properties, name)
    );
    if (required.length > 0) out["required"] = required;
  }
  const description = [
    ...(typeof node["description"] === "string" ? [node["description"]] : []),
    ...notes,
  ].join(" ");
  if (description !== "") out["description"] = description;
  return out;
}

/**
 * Converts `exclusiveMinimum` and `exclusiveMaximum`, each a number or (in draft 4) a flag on the
 * inclusive bound.
 */
function exclusive(node: JsonObject, out: JsonDraft, notes: string[]): void {
  for (
    const [word, inclusive, comparison] of [
      ["exclusiveMinimum", "minimum", "greater"],
      ["exclusiveMaximum", "maximum", "less"],
    ] as const
  ) {
    const value = node[word] === true ? node[inclusive] : node[word];
    if (typeof value !== "number") continue;
    out[inclusive] = value;
    notes.push(`Must be ${comparison} than ${value}.`);
  }
}

/**
 * Resolves references and `allOf` into the node. `node` is undefined where a reference has no
 * target or is recursive.
 */
function flatten(
  given: JsonObject,
  walk: Walk,
  within: readonly string[],
): { node: JsonObject | undefined; refs: readonly string[] } {
  let node = given;
  let refs = within;
  for (let step = 0; step <= MAX_DEPTH; step++) {
    const ref = node["$ref"];
    if (typeof ref === "string") {
      const target = refs.includes(ref) ? undefined : lookUp(walk.root, ref);
      if (target === undefined) return { node: undefined, refs };
      refs = [...refs, ref];
      node = { ...target, ...without(node, "$ref") };
      continue;
    }
    const all = node["allOf"];
    if (Array.isArray(all)) {
      walk.nodes += all.length;
      if (walk.nodes > MAX_NODES) break;
      node = merge([...all.filter(isObject), without(node, "allOf")], walk);
      continue;
    }
    return { node, refs };
  }
  return { node: undefined, refs };
}

/**
 * Merges the members of an `allOf`: properties and required are combined, of other keywords the
 * last one counts.
 */
function merge(members: readonly JsonObject[], walk: Walk): JsonObject {
  let out: JsonObject = {};
  for (const given of members) {
    const ref = given["$ref"];
    const member = typeof ref === "string"
      ? { ...lookUp(walk.root, ref), ...without(given, "$ref") }
      : given;
    const properties = [out["properties"], member["properties"]].filter(
      isObject,
    ).flatMap((some) => Object.entries(some));
    const required = [
      ...arrayOr(out["required"]),
      ...arrayOr(member["required"]),
    ];
    const nested = [...arrayOr(out["allOf"]), ...arrayOr(member["allOf"])];
    out = {
      ...out,
      ...member,
      ...(properties.length > 0
        ? { properties: Object.fromEntries(properties) }
        : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(nested.length > 0 ? { allOf: nested } : {}),
    };
  }
  return out;
}

function typesOf(
  node: JsonObject,
): { types: readonly string[]; nullable: boolean } {
  const listed = Array.isArray(node["type"]) ? node["type"] : [node["type"]];
  const types = listed.map((type) =>
    typeof type === "string" ? type.toLowerCase() : ""
  );
  return {
    types: types.filter((type) => TYPES.has(type)),
    nullable: types.includes("null"),
  };
}

function valuesOf(node: JsonObject): readonly unknown[] | undefined {
  if (node["const"] !== undefined) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

function impliedType(
  node: JsonObject,
  values: readonly unknown[] | undefined,
): string {
  if (node["properties"] !== undefined) return "object";
  if (node["items"] !== undefined || node["prefixItems"] !== undefined) {
    return "array";
  }
  const kinds = new Set(
    values?.filter((value) => value !== null).map((value) => typeof value),
  );
  const [kind] = kinds;
  return kinds.size === 1 && kind !== undefined && TYPES.has(kind)
    ? kind
    : DEFAULT_TYPE;
}

function isNullSchema(schema: unknown): boolean {
  return isObject(schema) &&
    (schema["type"] === "null" || schema["const"] === null);
}

/**
 * Copies the type of the surrounding schema to a branch without one, because the subset keeps only
 * the branch.
 */
function withType(branch: unknown, node: JsonObject): unknown {
  return isObject(branch) && branch["type"] === undefined &&
      branch["$ref"] === undefined && node["type"] !== undefined
    ? { ...branch, type: node["type"] }
    : branch;
}

function withDescription(schema: JsonDraft, node: JsonObject): JsonDraft {
  return schema["description"] === undefined &&
      typeof node["description"] === "string"
    ? { ...schema, description: node["description"] }
    : schema;
}

function without(node: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = node;
  return rest;
}
