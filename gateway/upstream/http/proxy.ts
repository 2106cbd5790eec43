/**
 * A proxy: its address as settings have it, and the tunnel that it opens (`CONNECT`, RFC 9110,
 * section 9.3.6).
 *
 * undici has a client for tunnels, which keeps reading from a connection that it hands over; Deno
 * does not start TLS on such a one. So the request of a tunnel is written here.
 */
import { Buffer } from "node:buffer";
import type { Conn } from "./conn.ts";
import type { Destination } from "./no_proxy.ts";

/** Where a proxy is and what it wants. */
export interface Proxy extends Destination {
  /** Whether the proxy itself is reached over TLS. */
  readonly isTls: boolean;
  /** The value of `proxy-authorization`; absent: no user. Secret. */
  readonly authorization?: string;
  /** Its host and port, for operators. */
  readonly name: string;
}

/** The proxy refused, or does not answer as one. The message is for operators. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
}

/** What the address of a proxy must be, for the messages about settings. */
export const PROXY_FORM =
  "must be the address of a proxy, such as http://proxy.example.com:3128, or with a user http://user:password@proxy.example.com:3128";

/**
 * Reads an address, `http://` where it has no scheme; undefined for anything else, such as a SOCKS
 * proxy. User and password are percent-decoded.
 */
export function readProxy(text: string): Proxy | undefined {
  const address = text.includes("://") ? text : `http://${text}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return undefined;
  }
  const url = new URL(address);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    return undefined;
  }
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  const user = loginOf(url);
  if (user === undefined) return undefined;
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    isTls,
    ...(user === "" ? {} : {
      authorization: `Basic ${Buffer.from(user).toString("base64")}`,
    }),
    name: `${url.hostname}:${port}`,
  };
}

/** The texts of a proxy's login that must not appear anywhere. */
export function proxySecrets({ authorization }: Proxy): readonly string[] {
  const encoded = authorization?.replace(/^Basic /, "");
  if (encoded === undefined) return [];
  const login = Buffer.from(encoded, "base64").toString();
  return [encoded, login.slice(login.indexOf(":") + 1)];
}

/** `user:password`, empty without a user; undefined where it cannot be decoded. */
function loginOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return "";
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return undefined;
  }
}

/** The longest head of a proxy's answer. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Asks the proxy at the other end of a connection for a tunnel. From then on the connection is one
 * to the destination. The caller closes it on a failure.
 *
 * @throws {ProxyError}, or the connection's error
 */
export async function openTunnel(
  conn: Conn,
  proxy: Proxy,
  { hostname, port }: Destination,
): Promise<void> {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const { authorization } = proxy;
  const request = [
    `CONNECT ${host}:${port} HTTP/1.1`,
    `host: ${host}:${port}`,
    ...(authorization === undefined
      ? []
      : [`proxy-authorization: ${authorization}`]),
  ].join("\r\n") + "\r\n\r\n";
  let rest: Uint8Array = new TextEncoder().encode(request);
  while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
  const status = await answeredStatus(conn, proxy);
  if (status < 200 || status > 299) throw refusal(proxy, status);
}

/** The error for an answer of the proxy itself. */
export function refusal(
  { name, authorization }: Proxy,
  status: number,
): ProxyError {
  return new ProxyError(
    status === 407
      ? `the proxy ${name} ${
        authorization === undefined
          ? "asks for a user and a password"
          : "does not accept the user and password"
      } (status 407)`
      : `the proxy ${name} refused the connection (status ${status})`,
  );
}

/** Reads the answer's head. Nothing may follow it: the destination waits for the first byte. */
async function answeredStatus(
  conn: Conn,
  { name }: Proxy,
): Promise<number> {
  let head = "";
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  while (!head.includes("\r\n\r\n")) {
    const size = head.length < MAX_HEAD_BYTES ? await conn.read(bytes) : null;
    if (size === null) {
      throw new ProxyError(`the proxy ${name} gave no answer to CONNECT`);
    }
    head += String.fromCharCode(...bytes.subarray(0, size));
  }
  const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
  const isOpen = status?.startsWith("2") === true;
  if (status === undefined || (isOpen && !head.endsWith("\r\n\r\n"))) {
    throw new ProxyError(`the proxy ${name} does not answer as a proxy`);
  }
  return Number(status);
}
