/** Reads JSON values by path without throwing: an absent value is undefined. */
import { isObject, type Json } from "@model-gateway/replay/json";

/** The value at a path such as `choices.0.message.content`; the path "" is the value itself. */
export function at(value: Json | undefined, path: string): Json | undefined {
  let here = value;
  for (const key of path === "" ? [] : path.split(".")) {
    if (Array.isArray(here)) here = here[Number(key)];
    else if (isObject(here)) here = here[key];
    else return undefined;
  }
  return here;
}

/** The string at a path; "" when there is none. */
export function textAt(value: Json | undefined, path: string): string {
  const found = at(value, path);
  return typeof found === "string" ? found : "";
}

/** The array at a path; empty when there is none. */
export function listAt(value: Json | undefined, path: string): readonly Json[] {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
}

/** The number at a path; undefined when there is none. */
export function numberAt(
  value: Json | undefined,
  path: string,
): number | undefined {
  const found = at(value, path);
  return typeof found === "number" ? found : undefined;
}

/** Equality of JSON values; the order of keys does not matter. */
export function sameJson(
  left: Json | undefined,
  right: Json | undefined,
): boolean {
  return left === right ||
    typeof left === "object" && typeof right === "object" &&
      canonical(left) === canonical(right);
}

function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "undefined";
  const fields = Object.keys(value).sort()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${fields.join(",")}}`;
}

/** The value with the members of every object in alphabetical order: their order means nothing. */
export function inKeyOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  return isObject(value)
    ? Object.fromEntries(
      Object.keys(value).sort().map((
        name,
      ) => [name, inKeyOrder(value[name] ?? null)]),
    )
    : value;
}

/** A value as short text, for messages. */
export function brief(value: unknown, limit = 160): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= limit
    ? text
    : `${text.slice(0, limit)}… (${text.length} characters)`;
}
