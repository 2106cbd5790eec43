/**
 * The path and query of a request. The server builds the URL from the `host` header and the request
 * target without checking them: a malformed host could change the path, bypassing the checks of a
 * proxy in front.
 */
import { ApiError, invalidField } from "../translate/model/error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, optionally with a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** A request's path and query. */
interface RequestTarget {
  /** As in the URL, not decoded. */
  readonly path: string;
  /** Empty if the URL has no query. */
  readonly query: URLSearchParams;
}

/** Cache of parsed URLs without a query: nearly all requests use a few paths. */
const CACHE = new Map<string, RequestTarget>();
const MAX_CACHED = 1_000;
/** Longer URLs are rare and are not cached. */
const MAX_CACHED_CHARS = 200;

/**
 * Parses and checks the target. The host itself must not be used.
 *
 * @throws {ApiError} `invalid_request` if the host header or the target is malformed, or if
 * the body has two lengths
 */
export function targetOf({ headers, url }: Request): RequestTarget {
  const host = headers.get("host") ?? "";
  if (host !== "" && !HOST.test(host)) throw malformedTarget("the host header");
  // A proxy in front may trust the other header and see another end of the body: request smuggling.
  if (headers.has("content-length") && headers.has("transfer-encoding")) {
    throw malformedTarget(
      "the body's length: content-length and transfer-encoding exclude each other",
    );
  }
  return CACHE.get(url) ?? parse(url);
}

function parse(text: string): RequestTarget {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw malformedTarget("the request's target");
  }
  const target = { path: url.pathname, query: url.searchParams };
  if (url.search === "" && text.length <= MAX_CACHED_CHARS) {
    if (CACHE.size >= MAX_CACHED) CACHE.clear();
    CACHE.set(text, target);
  }
  return target;
}

/**
 * Checks the fields of a query. No setting or record contains a NUL, and Postgres refuses a
 * statement with one.
 *
 * @throws {ApiError} `invalid_request` naming the field with a NUL
 */
export function requireNoNul(query: URLSearchParams): void {
  for (const [name, value] of query) {
    if (name.includes("\0")) {
      throw malformedTarget("the query: a name has a NUL (%00)");
    }
    if (value.includes("\0")) {
      throw invalidField(name, "must not contain a NUL (%00)");
    }
  }
}

/**
 * Refuses a query with a field that is given twice.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function requireOnce(
  query: URLSearchParams,
  repeatable: readonly string[] = [],
): void {
  for (const name of new Set(query.keys())) {
    if (repeatable.includes(name) || query.getAll(name).length < 2) continue;
    throw invalidField(name, "must not be given more than once");
  }
}

function malformedTarget(what: string): ApiError {
  return new ApiError("invalid_request", `could not parse ${what}`, {
    retryable: false,
  });
}
