/**
 * What a proxy in front reports of a request: `X-Forwarded-Proto`, `-Host` and `-Port`, else
 * `Forwarded` (RFC 7239). It counts from trusted proxies only, because any client can send these
 * headers.
 */
import { addressRange } from "../address_range.ts";

/** How the client reached the proxy; what is not reported or malformed is absent. */
export interface ForwardedOrigin {
  readonly scheme?: "http" | "https";
  /** In lower case, with a port unless it is the scheme's. */
  readonly host?: string;
}

/** Whether a request's other end is trusted to report how clients reached it. */
export type TrustedProxies = (peer: string) => boolean;

/** Loopback, link-local and private addresses (RFC 1918, RFC 4193). */
const PRIVATE: readonly string[] = [
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "169.254.0.0/16",
  "::1",
  "fc00::/7",
  "fe80::/10",
];

/**
 * Reads a list of addresses and ranges between commas or blanks, where `private` is all that no
 * public network has, and `none` is no address.
 *
 * @throws {RangeError} naming an entry of another form
 */
export function trustedProxies(text: string): TrustedProxies {
  const ranges = text.split(/[\s,]+/)
    .filter((entry) => entry !== "" && entry !== "none")
    .flatMap((entry) => entry === "private" ? PRIVATE : [entry])
    .map((entry) => {
      const range = addressRange(entry);
      if (range !== undefined) return range;
      throw new RangeError(
        `${entry} is neither an address, a range such as 10.0.0.0/8, private nor none`,
      );
    });
  return (peer) => ranges.some((range) => range(peer));
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/;
/** A parameter of `Forwarded`, and what follows it. */
const PARAMETER =
  /\s*([\w!#$%&'*+.^`|~-]+)=("(?:[^"\\]|\\.)*"|[^\s";,]*)\s*([;,]|$)/gy;

/** What the headers report; of several proxies, the one that the client reached. */
export function forwardedOrigin(headers: Headers): ForwardedOrigin {
  const other = forwardedOf(headers.get("forwarded") ?? "");
  const proto = first(headers, "proto") ?? other["proto"];
  const host = first(headers, "host") ?? other["host"];
  const scheme = proto === "http" || proto === "https" ? proto : undefined;
  return {
    ...(scheme === undefined ? {} : { scheme }),
    ...(host === undefined || !HOST.test(host) ? {} : { host }),
  };
}

/** The port that the client reached, if a proxy reports one that its scheme does not have anyway. */
export function forwardedPort(headers: Headers): string | undefined {
  const port = first(headers, "port");
  return port === undefined || !/^\d{1,5}$/.test(port) || port === "80" ||
      port === "443"
    ? undefined
    : port;
}

function first(headers: Headers, what: string): string | undefined {
  return headers.get(`x-forwarded-${what}`)?.split(",", 1)[0]?.trim()
    .toLowerCase();
}

function forwardedOf(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [, name = "", value = "", end] of text.matchAll(PARAMETER)) {
    found[name.toLowerCase()] = value.replace(/^"(.*)"$/, "$1")
      .replaceAll(/\\(.)/g, "$1").toLowerCase();
    if (end !== ";") break;
  }
  return found;
}
