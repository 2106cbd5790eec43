/**
 * The keys that a request presents, byte for byte: nothing is trimmed or unquoted.
 */

/**
 * Keys from `x-api-key`, `x-goog-api-key`, `api-key` and `authorization: Bearer …`, in this order;
 * one valid key is enough.
 *
 * @param query the query of a request in the generate-content format, whose clients may send the
 * key as `key`; absent: it is not read
 */
export function presentedKeys(
  headers: Headers,
  query?: URLSearchParams,
): readonly string[] {
  const keys: string[] = [];
  for (
    const key of [
      headers.get("x-api-key"),
      headers.get("x-goog-api-key"),
      headers.get("api-key"),
      query?.get("key") ?? null,
    ]
  ) {
    if (key !== null && key !== "") keys.push(key);
  }
  const bearer = /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")
    ?.[1];
  if (bearer !== undefined) keys.push(bearer);
  return keys;
}
