/**
 * A TCP connection for tests of hostile peers: raw bytes in both directions, a real reset, and an
 * event for the peer's close. It uses Node's sockets because Deno's own cannot reset a connection.
 */
import { createConnection, type Socket } from "node:net";

/** How the peer stopped: an orderly end, or anything else. */
export type Closing = "end" | "reset";

const ENCODER = new TextEncoder();

/** Encodes text as UTF-8; returns bytes unchanged. */
export function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? ENCODER.encode(data) : data;
}

export class RawSocket {
  readonly #socket: Socket;
  readonly #queue: Uint8Array[] = [];
  #closing: Closing | undefined;
  #wake = (): void => {};
  /** Resolves once the peer has closed or reset the connection, or this side has closed it. */
  readonly closed: Promise<Closing>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    const closed = Promise.withResolvers<Closing>();
    this.closed = closed.promise;
    const over = (how: Closing): void => {
      this.#closing ??= how;
      closed.resolve(this.#closing);
      this.#wake();
    };
    socket.on("data", (piece: Uint8Array) => {
      // Copied because the socket may reuse its buffer.
      this.#queue.push(new Uint8Array(piece));
      this.#wake();
    });
    socket.on("end", () => over("end"));
    socket.on("error", () => over("reset"));
    socket.on("close", () => over("reset"));
  }

  static connect(port: number): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({
        host: "127.0.0.1",
        port,
        allowHalfOpen: true,
      });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new RawSocket(socket));
      });
    });
  }

  /** Writes bytes; resolves once the system has accepted them or the connection is closed. */
  send(data: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return this.closed.then(() => {});
    const taken = new Promise<void>((resolve) => {
      this.#socket.write(bytesOf(data), () => resolve());
    });
    return Promise.race([taken, this.closed.then(() => {})]);
  }

  async read(): Promise<Uint8Array | Closing> {
    for (;;) {
      const piece = this.#queue.shift();
      if (piece !== undefined) return piece;
      if (this.#closing !== undefined) return this.#closing;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Stops reading, so that the peer's writes are blocked once the buffers are full. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends this side in order: the peer receives everything written, then the end. */
  end(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
