/**
 * The callers' headers that belong to the messages dialect.
 *
 * @module
 */

/** Version and betas as an upstream of that dialect wants them; they travel only with the caller's own bytes. */
export function versionHeaders(
  headers: Headers,
): Readonly<Record<string, string>> {
  const version = headers.get("anthropic-version") ??
    headers.get("vendora-version");
  const beta = headers.get("anthropic-beta");
  return {
    ...(version === null ? {} : { "anthropic-version": version }),
    ...(beta === null ? {} : { "anthropic-beta": beta }),
  };
}
