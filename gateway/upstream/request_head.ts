/**
 * Writes the head of a request to an upstream.
 *
 * @module
 */

/** A parsed URL, as requests to it need it. */
export interface UpstreamAddress {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  /** TCP port. */
  readonly port: number;
  /** Whether to use TLS. */
  readonly isTls: boolean;
  /** Scheme, name and port. */
  readonly origin: string;
  /** The request line and the headers that every request has. */
  readonly headStart: string;
}

/** Cache of parsed URLs: there are few, one per model and endpoint. */
const ADDRESSES = new Map<string, UpstreamAddress>();
const MAX_ADDRESSES = 1_000;

/** Parses a URL of the scheme `http` or `https`. */
export function upstreamAddress(text: string): UpstreamAddress {
  const cached = ADDRESSES.get(text);
  if (cached !== undefined) return cached;
  const url = new URL(text);
  const isTls = url.protocol === "https:";
  const address = {
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || (isTls ? 443 : 80)),
    isTls,
    origin: url.origin,
    headStart:
      `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`,
  };
  if (ADDRESSES.size >= MAX_ADDRESSES) ADDRESSES.clear();
  ADDRESSES.set(text, address);
  return address;
}

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** No line end and no other control character; Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The head of a request with a body of `length` bytes.
 *
 * @throws {TypeError} if a header cannot be written, which would change the request's meaning
 */
export function requestHead(
  { headStart }: UpstreamAddress,
  headers: Readonly<Record<string, string>>,
  length: number,
): string {
  let head = headStart;
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value)) {
      throw new TypeError("a header for the upstream is invalid");
    }
    head += `${name}: ${value}\r\n`;
  }
  return `${head}content-length: ${length}\r\n\r\n`;
}
