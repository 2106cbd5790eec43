/**
 * Removes credentials from texts that clients choose: a client may put its key into a path, a
 * model's name or an end user's id, and logs and records contain none.
 */

/** A credential, or most of one, by the prefixes of `key.ts`; vendors' keys often begin alike. */
const CREDENTIAL = /\b(sk|at|op|code)-[\w-]{16,}/g;
const REMOVED = "[removed]";

/** Returns the text without credentials. */
export type WithoutCredentials = (text: string) => string;

/**
 * Removes everything that looks like a credential, and the configured ones.
 *
 * @param configured credentials that an operator has chosen; empty ones are ignored
 */
export function withoutCredentials(
  configured: readonly (string | undefined)[],
): WithoutCredentials {
  const known = configured.filter((one): one is string => !!one);
  const clean = (text: string): string =>
    known.reduce(
      (rest, one) => rest.replaceAll(one, REMOVED),
      text.replaceAll(CREDENTIAL, `$1-${REMOVED}`),
    );
  return (text) => {
    if (!text.includes("%")) return clean(text);
    const decoded = decodedText(text);
    const cleaned = clean(decoded);
    return cleaned === decoded ? clean(text) : cleaned;
  };
}

/** The text with its percent-encoding decoded; the text itself if that is invalid. */
function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
