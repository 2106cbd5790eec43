/**
 * Request headers of the messages dialect that an upstream of the same dialect receives.
 */

const PREFIX = "anthropic-";
/**
 * Names of headers that contain a credential, which stays with the gateway, or an account, which
 * would choose who is billed.
 */
const NOT_FORWARDED =
  /(?:key|token|secret|auth|authorization|credentials?|cookie|organization(?:-id)?)$/;

/**
 * The client's headers that begin with the vendor's name, except credentials and accounts: version,
 * betas, user profile and whatever is newer than this gateway. They are forwarded only with the
 * client's own bytes.
 */
export function forwardedHeaders(
  headers: Headers,
): Readonly<Record<string, string>> {
  const forwarded: Record<string, string> = {};
  const neutral = headers.get("vendora-version");
  if (neutral !== null) forwarded["anthropic-version"] = neutral;
  // Half the time of `for … of`, whose iterator makes three objects a header.
  headers.forEach((value, name) => {
    if (name.startsWith(PREFIX) && !NOT_FORWARDED.test(name)) {
      forwarded[name] = value;
    }
  });
  return forwarded;
}
