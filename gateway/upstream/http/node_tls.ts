/**
 * TLS with a client certificate, with a least version, or inside of the TLS of a proxy: what
 * `Deno.startTls` lacks (Deno 2.8.2). Other connections do not use it.
 */
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { isIP } from "node:net";
import { CertificateEnds } from "../../certificate_ends.ts";
import type { Conn } from "./conn.ts";
import type { TlsSettings } from "./way.ts";

/**
 * In TLS 1.3 a server refuses a certificate after the handshake; Deno reports the end of the
 * connection without the server's alert (2.8.2).
 */
const CERTIFICATE_REFUSED = "fatal alert, perhaps BadCertificate";

const READ_BYTES = 64 * 1024;

/** Authorities of one's own, or those that the process trusts anyway. */
type Trust = "own" | "usual";

/** The server of a handshake. */
interface Server {
  /** The name that the certificate is checked against. */
  readonly hostname: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Opens such connections, for one way. */
export class NodeTls {
  readonly #settings: TlsSettings;
  readonly #ends: CertificateEnds;
  /**
   * Which authorities have vouched for a host. `node:tls` takes either; both as one list would take
   * 20 ms for each connection, and a permission to read it.
   */
  readonly #trusted = new Map<string, Trust>();

  /** @param ends receives the ends of certificates */
  constructor(
    settings: TlsSettings,
    ends: CertificateEnds = new CertificateEnds(),
  ) {
    this.#settings = settings;
    this.#ends = ends;
  }

  /**
   * Connects and performs a handshake; a second time where only the other authorities know the
   * server.
   *
   * @throws the signal's reason if it was aborted, otherwise the TLS error or that of `connect`
   */
  async open(server: Server, connect: () => Promise<Conn>): Promise<Conn> {
    const [first, second] = this.#order(server.hostname);
    try {
      return await this.#openBy(first, server, connect);
    } catch (error) {
      if (second === undefined || !isUntrusted(error)) throw error;
      return await this.#openBy(second, server, connect);
    }
  }

  #order(hostname: string): readonly [Trust, Trust?] {
    if (this.#settings.authorities.length === 0) return ["usual"];
    return this.#trusted.get(hostname) === "usual"
      ? ["usual", "own"]
      : ["own", "usual"];
  }

  async #openBy(
    trust: Trust,
    { hostname, port, signal }: Server,
    connect: () => Promise<Conn>,
  ): Promise<Conn> {
    const { authorities, certificate, minVersion } = this.#settings;
    const onOpen = (socket: tls.TLSSocket): void =>
      this.#ends.note(
        `${hostname}:${port}`,
        socket.getPeerCertificate().valid_to,
      );
    const conn = await handshake(await connect(), signal, onOpen, {
      // Decides what the certificate is checked against; an address is no name to ask for.
      ...(isIP(hostname) === 0 ? { servername: hostname } : { host: hostname }),
      ALPNProtocols: ["http/1.1"],
      ...(trust === "own" ? { ca: [...authorities] } : {}),
      ...certificate,
      ...(minVersion === undefined
        ? {}
        : { minVersion: `TLSv${minVersion}` as const }),
    });
    this.#trusted.set(hostname, trust);
    return conn;
  }
}

/** Whether no authority that was asked knows the server. */
function isUntrusted(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    error.code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
}

/** Over an open connection, which it takes over. */
function handshake(
  conn: Conn,
  signal: AbortSignal,
  onOpen: (socket: tls.TLSSocket) => void,
  options: tls.ConnectionOptions,
): Promise<Conn> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      closeOnce(conn);
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const socket = tls.connect({ ...options, socket: duplexOver(conn) }, () => {
      signal.removeEventListener("abort", onAbort);
      socket.off("error", fail);
      onOpen(socket);
      resolve(new StreamConn(socket, options.cert !== undefined));
    });
    socket.once("error", fail);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** A stream over a connection, for `node:tls`. */
function duplexOver(conn: Conn): Duplex {
  const writeAll = async (bytes: Uint8Array): Promise<void> => {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
  };
  return new Duplex({
    read() {
      const bytes = new Uint8Array(READ_BYTES);
      conn.read(bytes).then(
        (size) => this.push(size === null ? null : bytes.subarray(0, size)),
        (error) => this.destroy(error),
      );
    },
    write: (chunk: Uint8Array, _encoding, done) =>
      void writeAll(chunk).then(() => done(), done),
    destroy(error, done) {
      closeOnce(conn);
      done(error);
    },
  });
}

function closeOnce(conn: Conn): void {
  try {
    conn.close();
  } catch {
    // It is closed already.
  }
}

/** A connection over a stream. */
class StreamConn implements Conn {
  readonly #stream: Duplex;
  #unread: Uint8Array = new Uint8Array(0);
  #ended = false;
  #failure: Error | undefined;
  /** Nothing has been read, and the server may still refuse a certificate. */
  #mayRefuse: boolean;
  /** Reads on once something has happened. */
  #wake = (): void => {};

  /** `showsCertificate`: a server that refuses it ends the connection after the handshake. */
  constructor(stream: Duplex, showsCertificate: boolean) {
    this.#stream = stream;
    this.#mayRefuse = showsCertificate;
    const wake = (): void => this.#wake();
    stream.on("readable", wake);
    stream.on("end", () => {
      this.#ended = true;
      wake();
    });
    stream.on("error", (error: Error) => {
      this.#failure = error;
      wake();
    });
    stream.on("close", () => {
      this.#ended = true;
      wake();
    });
  }

  async read(into: Uint8Array): Promise<number | null> {
    for (;;) {
      if (this.#unread.length === 0) {
        this.#unread = this.#stream.read() as Buffer | null ?? this.#unread;
      }
      if (this.#unread.length > 0) {
        const size = Math.min(into.length, this.#unread.length);
        into.set(this.#unread.subarray(0, size));
        this.#unread = this.#unread.subarray(size);
        this.#mayRefuse = false;
        return size;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended && this.#mayRefuse) throw new Error(CERTIFICATE_REFUSED);
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#stream.write(
        bytes,
        (error) => error ? reject(error) : resolve(bytes.length),
      )
    );
  }

  close(): void {
    this.#stream.destroy();
  }
}
