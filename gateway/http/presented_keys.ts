/**
 * The keys that a request presents, byte for byte: nothing is trimmed or unquoted.
 *
 * @module
 */

/** Keys from `x-api-key` and `authorization: Bearer …`, in this order; one valid key is enough. */
export function presentedKeys(headers: Headers): readonly string[] {
  const keys: string[] = [];
  const header = headers.get("x-api-key");
  if (header !== null && header !== "") keys.push(header);
  const bearer = /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")
    ?.[1];
  if (bearer !== undefined) keys.push(bearer);
  return keys;
}
