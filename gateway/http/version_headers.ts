/**
 * Request headers of the messages dialect.
 *
 * @module
 */

/**
 * The client's version, beta and user-profile headers under the names that upstreams of this dialect
 * expect. They are forwarded only with the client's own bytes.
 */
export function versionHeaders(
  headers: Headers,
): Readonly<Record<string, string>> {
  const version = headers.get("anthropic-version") ??
    headers.get("vendora-version");
  const beta = headers.get("anthropic-beta");
  const profile = headers.get("anthropic-user-profile-id");
  return {
    ...(version === null ? {} : { "anthropic-version": version }),
    ...(beta === null ? {} : { "anthropic-beta": beta }),
    ...(profile === null ? {} : { "anthropic-user-profile-id": profile }),
  };
}
