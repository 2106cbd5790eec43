/**
 * Objects without the fields whose value is undefined: absent and undefined differ for
 * `exactOptionalPropertyTypes` and for key counts, absent and null differ in JSON.
 */

/** The fields of T, each absent rather than undefined. */
type Compact<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

export function compact<const T extends object>(fields: T): Compact<T> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) out[key] = value;
  }
  return out as Compact<T>;
}
