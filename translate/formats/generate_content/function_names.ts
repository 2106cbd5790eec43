/**
 * Function names that this format accepts: a letter or `_` first, then letters, digits, `_`, `.`,
 * `:` and `-`. Shortened names stay distinct through the hash in `../../turns/names.ts`.
 */
import { sha256 } from "../../turns/names.ts";

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

/** The name itself where it fits, else its readable start, `_` and a hash of the whole. */
export function functionName(name: string, max: number): string {
  if (name.length <= max && FUNCTION_NAME.test(name)) return name;
  const start = /^[A-Za-z_]/.test(name) ? name : `_${name}`;
  return `${start.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").slice(0, max - 9)}_${
    sha256(name).slice(0, 8)
  }`;
}

/** Wire name → the client's name, for the names that {@linkcode functionName} changes. */
export function changedFunctionNames(
  names: Iterable<string>,
  max: number,
): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const name of names) {
    const wire = functionName(name, max);
    if (wire !== name) changed.set(wire, name);
  }
  return changed;
}
