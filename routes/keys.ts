/**
 * The keys that a request presents, byte for byte: nothing is trimmed, unquoted or repaired.
 *
 * @module
 */

/** Keys from `x-api-key` and from `authorization: Bearer …`, in this order; either suffices. */
export function presentedKeys(headers: Headers): readonly string[] {
  const keys: string[] = [];
  const own = headers.get("x-api-key");
  if (own !== null && own !== "") keys.push(own);
  const bearer = /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")
    ?.[1];
  if (bearer !== undefined) keys.push(bearer);
  return keys;
}
