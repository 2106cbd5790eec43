/**
 * Opens a connection to an upstream, directly or through a proxy: resolves the name, tries its
 * addresses in turn, and over TLS checks the certificate against the name. An aborted attempt ends
 * at once in every phase.
 */
import { lookup } from "node:dns/promises";
import type { CertificateEnds } from "../../certificate_ends.ts";
import { isLinkLocal } from "../../link_local.ts";
import type { Conn } from "./conn.ts";
import type { Destination } from "./no_proxy.ts";
import type { NodeTls } from "./node_tls.ts";
import { openTunnel, type Proxy, ProxyError } from "./proxy.ts";
import { TlsHandshakes } from "./tls_handshakes.ts";
import { unreachableNote } from "./unreachable_note.ts";
import { DIRECT, type Way } from "./way.ts";

/** Destination of a connection. */
export interface DialTarget extends Destination {
  /** Whether to use TLS. */
  readonly isTls: boolean;
  /** Aborts the attempt in any phase, including the TLS handshake. */
  readonly signal: AbortSignal;
}

/**
 * The address, or every address of the name, is link-local or that of a cloud's metadata service:
 * nothing is sent there.
 */
class LinkLocalError extends Error {
  /** Constant, as of the system's errors. */
  readonly code: string = "ELINKLOCAL";
}

const REFUSAL = "a link-local address is not connected to";

/** Head start of an address before the next one is tried in parallel (RFC 8305, section 5). */
const STAGGER_MS = 250;

/** Resolves a name. Replaceable in tests: not every machine has names with several addresses. */
export type Resolve = (
  hostname: string,
) => Promise<readonly { readonly address: string }[]>;

/**
 * The system's resolver, which reads the hosts file. If the permission covers only one port of the
 * name, resolving is refused; then the name itself is dialled, which uses its first address.
 */
const resolveBySystem: Resolve = async (hostname) => {
  try {
    return await lookup(hostname, { all: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EPERM") {
      return [{ address: hostname }];
    }
    throw error;
  }
};

/** Opens connections, see {@linkcode dialer}. */
export type Dial = (target: DialTarget) => Promise<Conn>;

/** How connections are opened. */
export interface DialOptions {
  /** Absent: {@linkcode DIRECT}. */
  readonly way?: Way;
  /** Absent: the system's resolver. */
  readonly resolve?: Resolve;
  /** Whether link-local addresses are connected to, as for the machine's own credentials. */
  readonly reachesLinkLocal?: boolean;
  /** Receives the ends of certificates. */
  readonly ends?: CertificateEnds;
}

/**
 * Returns a function that opens connections. It throws the signal's reason if that was aborted,
 * otherwise the system's or the TLS error, or a {@linkcode ProxyError}. To a destination without
 * TLS it connects to the proxy itself, which takes whole requests.
 */
export function dialer(options: DialOptions = {}): Dial {
  const { way = DIRECT, resolve = resolveBySystem, reachesLinkLocal } = options;
  const handshakes = new TlsHandshakes(way.tls.authorities, options.ends);
  const reach = reachesLinkLocal === true ? () => true : isReached;
  const needsNode = way.tls.certificate !== undefined ||
    way.tls.minVersion !== undefined;
  let nodeTls: Promise<NodeTls> | undefined;
  return async (target) => {
    const { signal, isTls } = target;
    const proxy = way.proxyTo(target, isTls);
    const tcp = (): Promise<Deno.TcpConn> =>
      proxy === undefined
        ? connect(target, resolve, reach)
        // The operator named its address.
        : toProxy(
          proxy,
          signal,
          () => connect({ ...proxy, signal }, resolve, () => true),
        );
    const outer = async (): Promise<Conn> =>
      proxy?.isTls === true
        ? await toProxy(
          proxy,
          signal,
          async () => await handshakes.start(await tcp(), { ...proxy, signal }),
        )
        : await tcp();
    if (!isTls) return await outer();
    if (needsNode || proxy?.isTls === true) {
      nodeTls ??= import("./node_tls.ts").then(({ NodeTls }) =>
        new NodeTls(way.tls, options.ends)
      );
      return await (await nodeTls).open(
        target,
        async () => await openTunnelOn(await outer(), proxy, target),
      );
    }
    return await resumeTls(handshakes, target) ??
      await handshakes.start(
        await openTunnelOn(await tcp(), proxy, target),
        target,
      );
  };
}

/** A connection to the destination over one to a proxy, which is closed on a failure. */
async function openTunnelOn<T extends Conn>(
  conn: T,
  proxy: Proxy | undefined,
  target: DialTarget,
): Promise<T> {
  if (proxy === undefined) return conn;
  const { signal } = target;
  try {
    await abortable(
      signal,
      toProxy(proxy, signal, () => openTunnel(conn, proxy, target)),
    );
    return conn;
  } catch (error) {
    conn.close();
    throw error;
  }
}

/** A step towards a proxy, whose failure names the proxy. */
async function toProxy<T>(
  { name }: Proxy,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (signal.aborted || error instanceof ProxyError) throw error;
    throw new ProxyError(
      unreachableNote(error, `the proxy ${name}`) ??
        `the connection to the proxy ${name} broke`,
    );
  }
}

function isReached(address: string): boolean {
  return !isLinkLocal(address);
}

/** A connection whose handshake was abandoned by an earlier attempt. */
async function resumeTls(
  handshakes: TlsHandshakes,
  target: DialTarget,
): Promise<Conn | undefined> {
  for (;;) {
    try {
      return await handshakes.resume(target);
    } catch (error) {
      if (target.signal.aborted) throw error;
      // The upstream closed that connection, which is no evidence about a new one.
    }
  }
}

/** `reach`: whether an address may be connected to. */
async function connect(
  { hostname, port, signal }: Destination & { readonly signal: AbortSignal },
  resolve: Resolve,
  reach: (address: string) => boolean,
): Promise<Deno.TcpConn> {
  const addresses = isAddress(hostname)
    ? [hostname]
    : (await abortable(signal, resolve(hostname))).map((one) => one.address);
  // A connection is made to these addresses: the name is not resolved again.
  const allowed = addresses.filter(reach);
  if (addresses.length > allowed.length && allowed.length === 0) {
    throw new LinkLocalError(REFUSAL);
  }
  const tcp = await connectAny(
    allowed.length === 0 ? [hostname] : interleaveFamilies(allowed),
    (address, signal) => connectOne(address, hostname, port, signal, reach),
    signal,
  );
  tcp.setNoDelay(true);
  tcp.setKeepAlive(true);
  return tcp;
}

/** Decided by its shape: no host name has a colon, and none consists of four numbers. */
function isAddress(hostname: string): boolean {
  return hostname.includes(":") || /^\d+(\.\d+){3}$/.test(hostname);
}

/**
 * Alternates the address families, so that a family without a route costs one stagger (RFC 8305,
 * section 4).
 */
function interleaveFamilies(addresses: readonly string[]): readonly string[] {
  const first = addresses[0]?.includes(":") ?? false;
  const same = addresses.filter((one) => one.includes(":") === first);
  const other = addresses.filter((one) => one.includes(":") !== first);
  return same.flatMap((one, at) => [one, ...other.slice(at, at + 1)])
    .concat(other.slice(same.length));
}

/** Rejects when the signal is aborted; the promise's own result is then ignored. */
function abortable<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() =>
      signal.removeEventListener("abort", onAbort)
    );
  });
}

/**
 * Tries the next address when the previous one has failed or its head start has ended; the first
 * connection wins.
 */
function connectAny(
  addresses: readonly string[],
  connectOne: (address: string, signal: AbortSignal) => Promise<Deno.TcpConn>,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  return new Promise((resolve, reject) => {
    /**
     * Running attempts. A finished one must not be aborted: Deno could close a resource that has
     * reused its id.
     */
    const attempts = new Set<AbortController>();
    let next = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failure: unknown;
    let settled = false;
    const settle = (): void => {
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      for (const attempt of attempts) attempt.abort();
    };
    const onAbort = (): void => {
      settle();
      reject(signal.reason);
    };
    const onFailure = (error: unknown): void => {
      failure ??= error;
      if (settled) return;
      if (next < addresses.length) return tryNext();
      if (attempts.size > 0) return;
      settle();
      reject(failure);
    };
    const tryNext = (): void => {
      clearTimeout(timer);
      const address = addresses[next++];
      if (address === undefined) return;
      if (next < addresses.length) timer = setTimeout(tryNext, STAGGER_MS);
      const attempt = abortableConnect();
      attempts.add(attempt);
      connectOne(address, attempt.signal).then((conn) => {
        attempts.delete(attempt);
        if (settled) return conn.close();
        settle();
        resolve(conn);
      }, (error) => {
        attempts.delete(attempt);
        onFailure(error);
      });
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    tryNext();
  });
}

/**
 * A controller for `Deno.connect`. From Deno 2.8.2 to 2.9.6 at least, a connection that opens at
 * the moment of the abort is lost and never closed, because `throwIfAborted` ends the attempt after
 * it. Without it the connection is returned, and closed here.
 */
function abortableConnect(): AbortController {
  const attempt = new AbortController();
  Object.defineProperty(attempt.signal, "throwIfAborted", { value: () => {} });
  return attempt;
}

async function connectOne(
  address: string,
  hostname: string,
  port: number,
  signal: AbortSignal,
  reach: (address: string) => boolean,
): Promise<Deno.TcpConn> {
  const conn = await connectTo(address, hostname, port, signal);
  // A name that was not resolved here.
  if (reach(conn.remoteAddr.hostname)) return conn;
  conn.close();
  throw new LinkLocalError(REFUSAL);
}

/**
 * If the permission covers the name only, the address is refused; the name is dialled instead,
 * which uses its first address.
 */
async function connectTo(
  address: string,
  hostname: string,
  port: number,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  try {
    return await Deno.connect({ hostname: address, port, signal });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable) || address === hostname) {
      throw error;
    }
    return await Deno.connect({ hostname, port, signal });
  }
}
