/**
 * What a request is aimed at. The server makes the address of the `host` header and the target, unchecked: a header that is no host
 * would move the path, past whatever a proxy in front has looked at.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, perhaps with a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** A request's target. */
export interface Target {
  /** As it stands in the address, not decoded. */
  readonly path: string;
  /** Empty where the address has none. */
  readonly query: URLSearchParams;
}

/** Addresses without a query that were taken apart: nearly all requests go to a few. */
const KNOWN = new Map<string, Target>();
const MAX_KNOWN = 1_000;
/** Longer ones are nobody's usual. */
const MAX_KNOWN_CHARS = 200;

/**
 * What a request is aimed at; of its host nothing may be made.
 *
 * @throws {ApiError} `invalid_request` where the host header is no host, the target no address, or the body's length told twice
 */
export function targetOf({ headers, url }: Request): Target {
  const host = headers.get("host") ?? "";
  if (host !== "" && !HOST.test(host)) throw malformed("the host header");
  // Whoever stands between may have gone by the other one: then the body's end is where an attacker wants it.
  if (headers.has("content-length") && headers.has("transfer-encoding")) {
    throw malformed("a content-length beside a transfer-encoding");
  }
  return KNOWN.get(url) ?? read(url);
}

function read(text: string): Target {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw malformed("the request's target");
  }
  const target = { path: url.pathname, query: url.searchParams };
  if (url.search === "" && text.length <= MAX_KNOWN_CHARS) {
    if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
    KNOWN.set(text, target);
  }
  return target;
}

function malformed(what: string): ApiError {
  return new ApiError("invalid_request", `could not read ${what}`, {
    retryable: false,
  });
}
