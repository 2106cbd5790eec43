/**
 * The way from this machine to a server: directly or through a proxy, and which certificates count.
 * Made when the settings are read; `dial.ts` goes it.
 */
import { createHash } from "node:crypto";
import { type Destination, isMetadataHost, isThisMachine } from "./no_proxy.ts";
import type { NoProxy } from "./no_proxy.ts";
import type { Proxy } from "./proxy.ts";

/** Certificates of connections, as the texts of their files (PEM). */
export interface TlsSettings {
  /** Authorities beside those that the process trusts anyway. */
  readonly authorities: readonly string[];
  /** Shown to a server that asks for one; absent: none. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Absent: 1.2, below which no connection is ever made. */
  readonly minVersion?: "1.3";
}

/** A way out. */
export interface Way {
  /** The proxy to a destination; undefined: it is reached directly. */
  proxyTo(destination: Destination, isTls: boolean): Proxy | undefined;
  /** Every proxy that it may lead through. */
  readonly proxies: readonly Proxy[];
  readonly tls: TlsSettings;
  /** Equal for ways that are alike, which share their connections. */
  readonly id: string;
}

/** What `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` have. */
export interface EnvironmentProxies {
  /** For `http://`; absent: none. */
  readonly http?: Proxy;
  /** For `https://`; absent: none. */
  readonly https?: Proxy;
  readonly isExempt: NoProxy;
  /** `NO_PROXY` as it is written. */
  readonly exemptions: string;
}

/** No proxy, and no certificates beside the usual ones. */
export const DIRECT: Way = directWay({ authorities: [] });

/** Without a proxy. */
export function directWay(tls: TlsSettings): Way {
  return {
    proxyTo: () => undefined,
    proxies: [],
    tls,
    id: idOf("direct", tls),
  };
}

/** Through the proxies of the environment. */
export function environmentWay(
  { http, https, isExempt, exemptions }: EnvironmentProxies,
  tls: TlsSettings,
): Way {
  return {
    proxyTo: (to, isTls) =>
      isMetadataHost(to.hostname) || isThisMachine(to.hostname) || isExempt(to)
        ? undefined
        : isTls
        ? https
        : http,
    proxies: [http, https].filter((one) => one !== undefined),
    tls,
    id: idOf([http, https, exemptions], tls),
  };
}

/** Through one proxy, whatever the environment has: also to this machine. */
export function proxiedWay(proxy: Proxy, tls: TlsSettings): Way {
  return {
    proxyTo: ({ hostname }) => isMetadataHost(hostname) ? undefined : proxy,
    proxies: [proxy],
    tls,
    id: idOf(proxy, tls),
  };
}

/** The same way with other certificates. */
export function withTls(way: Way, tls: TlsSettings): Way {
  return { ...way, tls, id: idOf(way.id, tls) };
}

/** The server of an address. */
export function destinationOf(
  { protocol, hostname, port }: URL,
): { readonly destination: Destination; readonly isTls: boolean } {
  const isTls = protocol === "https:";
  return {
    destination: {
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (isTls ? 443 : 80)),
    },
    isTls,
  };
}

function idOf(proxies: unknown, tls: TlsSettings): string {
  return createHash("sha256").update(JSON.stringify([proxies, tls])).digest(
    "hex",
  );
}
