import { isObject, type JsonObject } from "../bytes/json.ts";

/** The schema that a local reference (`#/$defs/x`) points to. */
export function lookUp(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const name = pointerStep(step);
    if (Array.isArray(found)) found = found[Number(name)];
    else if (isObject(found) && Object.hasOwn(found, name)) found = found[name];
    else return undefined;
  }
  return isObject(found) ? found : undefined;
}

function pointerStep(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
