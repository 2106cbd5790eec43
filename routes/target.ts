/**
 * What a request is aimed at. The server makes the address of the `host` header and the target, unchecked: a header that is no host
 * would move the path, past whatever a proxy in front has looked at.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, perhaps with a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/**
 * The address of a request; of its host nothing may be made.
 *
 * @throws {ApiError} `invalid_request` where the host header is no host, the target no address, or the body's length told twice
 */
export function targetOf({ headers, url }: Request): URL {
  const host = headers.get("host") ?? "";
  if (host !== "" && !HOST.test(host)) throw malformed("the host header");
  // Whoever stands between may have gone by the other one: then the body's end is where an attacker wants it.
  if (headers.has("content-length") && headers.has("transfer-encoding")) {
    throw malformed("a content-length beside a transfer-encoding");
  }
  try {
    return new URL(url);
  } catch {
    throw malformed("the request's target");
  }
}

function malformed(what: string): ApiError {
  return new ApiError("invalid_request", `could not read ${what}`, {
    retryable: false,
  });
}
