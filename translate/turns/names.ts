/**
 * Makes names and ids acceptable to an upstream by pure functions: the same input gives the same
 * output, so both sides of a pair (a call and its result, a tool and its choice) match without
 * stored state.
 */
import { createHash } from "node:crypto";

/** Hex SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * A tool name of at most `max` characters out of [0-9A-Za-z_-]: the name itself where it fits, else
 * its start, `_` and a hash of the whole. Plain truncation would make names with a long common
 * prefix collide.
 */
export function wireToolName(name: string, max: number): string {
  if (name.length <= max && /^[0-9A-Za-z_-]+$/.test(name)) return name;
  return `${name.replaceAll(/[^0-9A-Za-z_-]/g, "_").slice(0, max - 9)}_${
    sha256(name).slice(0, 8)
  }`;
}

/** Wire name → the client's name, for the names that {@linkcode wireToolName} changes. */
export function changedToolNames(
  names: Iterable<string>,
  max: number,
): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const name of names) {
    const wire = wireToolName(name, max);
    if (wire !== name) changed.set(wire, name);
  }
  return changed;
}

/**
 * A tool call id of at most `max` characters out of [0-9A-Za-z_-]: the id itself where it fits,
 * else a hash of it.
 */
export function wireCallId(
  id: string,
  max: number,
  form: "any" | "alnum9" = "any",
): string {
  if (form === "alnum9") {
    return /^[0-9A-Za-z]{9}$/.test(id) ? id : sha256(id).slice(0, 9);
  }
  if (id.length <= max && /^[0-9A-Za-z_-]+$/.test(id)) return id;
  return `call_${sha256(id).slice(0, 32)}`;
}
