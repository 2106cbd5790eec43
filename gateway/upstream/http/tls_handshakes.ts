/**
 * TLS handshakes with upstreams. Deno does not free a connection whose handshake is unfinished:
 * after `close()` it stays open until the upstream answers or closes it. An attempt that is aborted
 * therefore abandons its handshake, and once a few are abandoned, further attempts at that
 * upstream continue them instead of opening more connections.
 */

import { CertificateEnds, peerCertificateEnd } from "../../certificate_ends.ts";

/** The upstream of a handshake. */
interface HandshakeTarget {
  /** The name that the certificate is checked against. */
  readonly hostname: string;
  /** TCP port. */
  readonly port: number;
  /** Aborts the wait for the handshake. */
  readonly signal: AbortSignal;
}

/** The maximum number of abandoned handshakes per upstream before attempts continue them. */
export const MAX_ABANDONED = 64;

/** Upstreams are called over HTTP/1.1. */
const ALPN: readonly string[] = ["http/1.1"];

interface Handshake {
  readonly conn: Deno.TlsConn;
  /** Receives the end of the handshake, with its failure if it failed. Absent if abandoned. */
  onEnd?: ((failure?: Error) => void) | undefined;
}

/** The unfinished handshakes of one HTTP client. */
export class TlsHandshakes {
  readonly #authorities: readonly string[];
  readonly #ends: CertificateEnds;
  readonly #abandoned = new Map<string, Set<Handshake>>();

  /**
   * @param authorities beside those that the process trusts anyway, as PEM
   * @param ends receives the ends of certificates
   */
  constructor(
    authorities: readonly string[] = [],
    ends: CertificateEnds = new CertificateEnds(),
  ) {
    this.#authorities = authorities;
    this.#ends = ends;
  }

  /**
   * Performs a handshake over a new connection, which it takes over.
   *
   * @throws the signal's reason if it was aborted, otherwise the TLS error
   */
  async start(
    tcp: Deno.TcpConn,
    target: HandshakeTarget,
  ): Promise<Deno.TlsConn> {
    const { hostname } = target;
    const conn = await Deno.startTls(tcp, {
      hostname,
      caCerts: [...this.#authorities],
      alpnProtocols: [...ALPN],
    });
    const handshake: Handshake = { conn };
    const ended = this.#wait(handshake, target);
    conn.handshake().then(
      () => this.#onEnd(handshake, target),
      (failure) => this.#onEnd(handshake, target, failure),
    );
    return await ended;
  }

  /**
   * Continues the handshake that was abandoned first, if {@linkcode MAX_ABANDONED} are.
   *
   * @throws like {@linkcode TlsHandshakes.start}
   */
  resume(target: HandshakeTarget): Promise<Deno.TlsConn> | undefined {
    const abandoned = this.#abandoned.get(keyOf(target));
    const [first] = abandoned ?? [];
    if (abandoned === undefined || abandoned.size < MAX_ABANDONED) return;
    if (first === undefined) return;
    abandoned.delete(first);
    return this.#wait(first, target);
  }

  #wait(
    handshake: Handshake,
    target: HandshakeTarget,
  ): Promise<Deno.TlsConn> {
    const { signal } = target;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        handshake.onEnd = undefined;
        this.#abandon(handshake, target);
        reject(signal.reason);
      };
      handshake.onEnd = (failure) => {
        signal.removeEventListener("abort", onAbort);
        if (failure === undefined) resolve(handshake.conn);
        else reject(failure);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  #abandon(handshake: Handshake, target: HandshakeTarget): void {
    const key = keyOf(target);
    const abandoned = this.#abandoned.get(key);
    if (abandoned === undefined) {
      this.#abandoned.set(key, new Set([handshake]));
    } else abandoned.add(handshake);
  }

  #onEnd(
    handshake: Handshake,
    target: HandshakeTarget,
    failure?: Error,
  ): void {
    const { conn, onEnd } = handshake;
    if (failure === undefined) {
      this.#ends.note(keyOf(target), peerCertificateEnd(conn));
    } else this.#ends.noteFailure(keyOf(target), failure);
    if (failure !== undefined || onEnd === undefined) conn.close();
    if (onEnd !== undefined) return onEnd(failure);
    const key = keyOf(target);
    const abandoned = this.#abandoned.get(key);
    abandoned?.delete(handshake);
    if (abandoned?.size === 0) this.#abandoned.delete(key);
  }
}

function keyOf({ hostname, port }: HandshakeTarget): string {
  return `${hostname}:${port}`;
}
