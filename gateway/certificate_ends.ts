/**
 * When the certificates of servers end that this process connects to, as their handshakes show.
 */

/** Servers that are remembered: those of the configuration are fewer. */
const MAX_SERVERS = 500;

export class CertificateEnds {
  readonly #ends = new Map<string, number>();

  /**
   * The end of each server's certificate in Unix milliseconds, by name and port. A server that never
   * showed a certificate is absent.
   */
  all(): ReadonlyMap<string, number> {
    return this.#ends;
  }

  /** Notes the certificate of a handshake. `validTo`: as node:tls gives it, if it does. */
  note(server: string, validTo: unknown): void {
    this.#set(server, Date.parse(String(validTo)));
  }

  /** Notes an end that a failed handshake names: of a certificate that has expired. */
  noteFailure(server: string, { message }: Error): void {
    // rustls, src/error.rs, CertificateError::ExpiredContext.
    const [, seconds] = /not valid after (\d+)/.exec(message) ?? [];
    if (seconds !== undefined) this.#set(server, Number(seconds) * 1000);
  }

  #set(server: string, endMs: number): void {
    if (Number.isNaN(endMs)) return;
    if (this.#ends.size < MAX_SERVERS || this.#ends.has(server)) {
      this.#ends.set(server, endMs);
    }
  }
}

/**
 * The end of the certificate of a connection of `Deno.startTls`, for {@linkcode CertificateEnds.note};
 * undefined where this version of Deno does not give it. Its node:tls reads it by a symbol that is no
 * public API (Deno 2.8.2, ext/net/02_tls.js).
 */
export function peerCertificateEnd(conn: Deno.TlsConn): unknown {
  const prototype: unknown = Object.getPrototypeOf(conn);
  if (typeof prototype !== "object" || prototype === null) return undefined;
  const symbol = Object.getOwnPropertySymbols(prototype)
    .find(({ description }) => description === "getPeerCertificate");
  const read: unknown = symbol && Reflect.get(conn, symbol);
  if (typeof read !== "function") return undefined;
  const found: unknown = read.call(conn);
  return typeof found === "object" && found !== null && "valid_to" in found
    ? found.valid_to
    : undefined;
}
