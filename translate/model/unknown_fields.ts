/**
 * Collects the fields of a client's request that the neutral request cannot hold: optional ones,
 * which a translation drops and reports, and essential ones, for which it refuses the request.
 * The decoding modules decide which fields are which.
 */
import { type JsonObject, objectOr } from "../bytes/json.ts";

/** Paths as the client wrote them, each once, in order of discovery. */
export interface UnknownFields {
  /** Dropped if the request is translated to another format. */
  readonly optional: Set<string>;
  /** Fields without which the request would mean something else: their translation is refused. */
  readonly essential: Set<string>;
}

/**
 * The most paths that are collected from one request: reports list fewer, and a body has room for
 * millions of unknown fields.
 */
export const MAX_UNKNOWN_FIELDS = 1_000;

/** Creates an empty collection. */
export function newUnknownFields(): UnknownFields {
  return { optional: new Set(), essential: new Set() };
}

/**
 * Records the fields of an object that are not in `known`. Null and `[]` are skipped, because
 * client libraries send them for absent values; so is `caller` where it states that the model
 * itself made a call, as newer replies state in every call.
 */
export function noteUnknown(
  object: object | null | undefined,
  known: ReadonlySet<string>,
  prefix: string,
  unknown: UnknownFields,
): void {
  if (object === null || object === undefined) return;
  // An array of all entries would cost more than reading them.
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    if (unknown.optional.size >= MAX_UNKNOWN_FIELDS) return;
    const value: unknown = Reflect.get(object, key);
    if (value === null || value === undefined) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    if (key === "caller" && objectOr(value)["type"] === "direct") continue;
    unknown.optional.add(`${prefix}${key}`);
  }
}

/** A checked object as plain JSON, to read fields that its type does not declare. */
export function asJson(object: object): JsonObject {
  // Everything that was read from JSON is of this type.
  return object as JsonObject;
}
