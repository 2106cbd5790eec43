/**
 * Strict functions for vendors of this family: they refuse a strict schema that is not closed or
 * has optional properties. Other formats bind calls to such schemas, too.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";
import { objectSchema } from "../../turns/object_schema.ts";
import type { GenerationRequest, Tool } from "../../model/request.ts";

/** Keywords that a strict schema must not have. */
const UNBOUND = [
  "allOf",
  "contains",
  "default",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "maxContains",
  "maxProperties",
  "minContains",
  "minProperties",
  "not",
  "oneOf",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
] as const;
const CLOSED: JsonObject = { additionalProperties: false };

/** The tools, with closed schemas where strict. One that cannot be is named as dropped. */
export function strictTools<T extends Tool>(
  tools: readonly T[],
  { fieldNames }: Pick<GenerationRequest, "fieldNames">,
  dropped: DroppedFields,
): readonly T[] {
  return tools.map((tool) => {
    if (tool.type !== "function" || tool.strict !== true) return tool;
    const parameters = closedSchema(objectSchema(tool.parameters));
    if (parameters !== undefined) return { ...tool, parameters };
    dropped.path(`${fieldNames.tools}[].strict`);
    const { strict: _, ...open } = tool;
    return open as T;
  });
}

/**
 * Whether a schema follows the rules of strict output: an object, every object in it is closed, and
 * every property is required.
 */
export function isStrict(schema: JsonObject): boolean {
  return schema["type"] === "object" && closedSchema(schema) === schema;
}

/**
 * The schema with its objects closed, the same one where they are; undefined where a property is
 * optional, an object is open on purpose, or schemas are combined.
 */
export function closedSchema(schema: JsonObject): JsonObject | undefined {
  const properties = objectOr(schema["properties"]);
  const isObjectType = schema["type"] === "object" ||
    schema["properties"] !== undefined;
  const openness = schema["additionalProperties"];
  const required = new Set(arrayOr(schema["required"]));
  if (
    UNBOUND.some((key) => schema[key] !== undefined) ||
    (isObjectType &&
      ((openness !== undefined && openness !== false) ||
        Object.keys(properties).some((name) => !required.has(name))))
  ) return undefined;
  const changed: Record<string, unknown> = {};
  if (isObjectType && openness === undefined) Object.assign(changed, CLOSED);
  for (const key of ["properties", "$defs"]) {
    const all = objectOr(schema[key]);
    const inner = Object.entries(all).map(([name, one]) =>
      [name, closedValue(one)] as const
    );
    if (inner.some(([, one]) => one === OPEN)) return undefined;
    if (inner.some(([name, one]) => one !== all[name])) {
      changed[key] = Object.fromEntries(inner);
    }
  }
  const choices = arrayOr(schema["anyOf"]);
  const closedChoices = choices.map(closedValue);
  const items = closedValue(schema["items"]);
  if (items === OPEN || closedChoices.includes(OPEN)) return undefined;
  if (closedChoices.some((one, at) => one !== choices[at])) {
    changed["anyOf"] = closedChoices;
  }
  if (items !== schema["items"]) changed["items"] = items;
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed };
}

const OPEN = Symbol("open");

function closedValue(value: unknown): unknown {
  return isObject(value) ? closedSchema(value) ?? OPEN : value;
}
