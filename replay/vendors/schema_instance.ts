/** Makes a simple valid instance of a JSON schema, for forced tool calls and structured output. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "../json.ts";

/** Depth at which a recursive schema is cut off with an empty object or array. */
const MAX_DEPTH = 12;

const STRINGS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-02T03:04:05Z",
  "date": "2026-01-02",
  "time": "03:04:05Z",
  "email": "someone@example.com",
  "uri": "https://example.com/",
  "url": "https://example.com/",
  "uuid": "00000000-0000-4000-8000-000000000000",
  "ipv4": "192.0.2.1",
  "ipv6": "2001:db8::1",
  "hostname": "example.com",
};

/** An instance with the required properties only. */
export function instanceOf(schema: Json | undefined): Json {
  return build(schema, objectOf(schema), 0);
}

/** Like `instanceOf`, but always an object: the arguments of a tool call. */
export function argumentsOf(schema: Json | undefined): JsonObject {
  return objectOf(instanceOf(schema));
}

function build(
  schema: Json | undefined,
  root: JsonObject,
  depth: number,
): Json {
  const node = resolve(objectOf(schema), root, depth);
  if (node["const"] !== undefined) return node["const"];
  const [firstChoice] = arrayOf(node["enum"]);
  if (firstChoice !== undefined) return firstChoice;
  const [alternative] = [...arrayOf(node["anyOf"]), ...arrayOf(node["oneOf"])];
  if (alternative !== undefined) {
    return build(
      { ...node, anyOf: undefined, oneOf: undefined, ...objectOf(alternative) },
      root,
      depth + 1,
    );
  }
  switch (typeOf(node)) {
    case "object":
      return objectFor(node, root, depth);
    case "array": {
      const count = depth >= MAX_DEPTH
        ? 0
        : Math.max(numberOf(node["minItems"]) ?? 1, 0);
      return Array.from(
        { length: Math.min(count, 100) },
        () => build(node["items"], root, depth + 1),
      );
    }
    case "number":
    case "integer":
      return numberFor(node);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return stringFor(node);
  }
}

/** Resolves `$ref` and merges `allOf`. */
function resolve(
  node: JsonObject,
  root: JsonObject,
  depth: number,
): JsonObject {
  if (depth > 2 * MAX_DEPTH) return {};
  const ref = stringOf(node["$ref"]);
  if (ref !== undefined && ref.startsWith("#")) {
    const path = ref.slice(1).split("/").filter((key) => key !== "").map((
      key,
    ) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = path.reduce<Json | undefined>(
      (at, key) => objectOf(at)[key],
      root,
    );
    return resolve(objectOf(target), root, depth + 1);
  }
  return arrayOf(node["allOf"]).map(objectOf).reduce<JsonObject>(
    (joined, part) => {
      const resolved = resolve(part, root, depth + 1);
      return {
        ...joined,
        ...resolved,
        properties: {
          ...objectOf(joined["properties"]),
          ...objectOf(resolved["properties"]),
        },
        required: [
          ...arrayOf(joined["required"]),
          ...arrayOf(resolved["required"]),
        ],
      };
    },
    node,
  );
}

/** The type in lower case; generate content schemas write it in capitals. */
function typeOf(node: JsonObject): string {
  const type = node["type"];
  const named = stringOf(type) ??
    stringOf(arrayOf(type).find((name) => name !== "null"));
  if (named !== undefined) return named.toLowerCase();
  if (node["properties"] !== undefined || node["required"] !== undefined) {
    return "object";
  }
  if (node["items"] !== undefined) return "array";
  return Object.keys(node).length === 0 ? "object" : "string";
}

function objectFor(
  node: JsonObject,
  root: JsonObject,
  depth: number,
): JsonObject {
  if (depth >= MAX_DEPTH) return {};
  const properties = objectOf(node["properties"]);
  const names = arrayOf(node["required"]).map(stringOf).filter((name) =>
    name !== undefined
  );
  return Object.fromEntries(
    names.map((name) => [name, build(properties[name], root, depth + 1)]),
  );
}

function numberFor(node: JsonObject): number {
  const least = numberOf(node["minimum"]) ??
    (numberOf(node["exclusiveMinimum"]) ?? 0) + 1;
  const step = numberOf(node["multipleOf"]);
  const value = Math.min(
    Math.max(least, 1),
    numberOf(node["maximum"]) ?? Infinity,
  );
  return step === undefined ? value : Math.ceil(value / step) * step;
}

function stringFor(node: JsonObject): string {
  const text = STRINGS[stringOf(node["format"]) ?? ""] ?? "example";
  return text.padEnd(numberOf(node["minLength"]) ?? 0, "x").slice(
    0,
    numberOf(node["maxLength"]),
  );
}
