/**
 * Opens a connection to an upstream: resolves the name, tries its addresses in turn, and over TLS
 * checks the certificate against the name. An aborted attempt ends at once in every phase.
 */
import { lookup } from "node:dns/promises";
import { CertificateEnds } from "../../certificate_ends.ts";
import { isLinkLocal } from "../../link_local.ts";
import { TlsHandshakes } from "./tls_handshakes.ts";

/** Destination of a connection. */
export interface DialTarget {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  /** TCP port. */
  readonly port: number;
  /** Whether to use TLS. */
  readonly isTls: boolean;
  /** Aborts the attempt in any phase, including the TLS handshake. */
  readonly signal: AbortSignal;
}

/** An open connection. */
export type Conn = Deno.TcpConn | Deno.TlsConn;

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

/**
 * Returns a function that opens connections. It throws the signal's reason if that was aborted,
 * otherwise the system's or the TLS error. `ends` receives the certificates.
 */
export function dialer(
  resolve: Resolve = resolveBySystem,
  ends: CertificateEnds = new CertificateEnds(),
): Dial {
  const handshakes = new TlsHandshakes(ends);
  return async (target) =>
    target.isTls
      ? await resumeTls(handshakes, target) ??
        await handshakes.start(await connect(target, resolve), target)
      : await connect(target, resolve);
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

async function connect(
  { hostname, port, signal }: DialTarget,
  resolve: Resolve,
): Promise<Deno.TcpConn> {
  const addresses = isAddress(hostname)
    ? [hostname]
    : (await abortable(signal, resolve(hostname))).map((one) => one.address);
  // A connection is made to these addresses: the name is not resolved again.
  const allowed = addresses.filter((address) => !isLinkLocal(address));
  if (addresses.length > allowed.length && allowed.length === 0) {
    throw new LinkLocalError(REFUSAL);
  }
  const tcp = await connectAny(
    allowed.length === 0 ? [hostname] : interleaveFamilies(allowed),
    hostname,
    port,
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
  hostname: string,
  port: number,
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
      connectOne(address, hostname, port, attempt.signal).then((conn) => {
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
): Promise<Deno.TcpConn> {
  const conn = await connectTo(address, hostname, port, signal);
  // A name that was not resolved here.
  if (!isLinkLocal(conn.remoteAddr.hostname)) return conn;
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
