/**
 * A TCP connection as tests of hostile peers need it: bytes out as they are, bytes in as they come, a true reset, and an event
 * for the other side's leaving. Node's sockets carry it, for Deno's own cannot reset.
 *
 * @module
 */
import { createConnection, type Socket } from "node:net";

/** How the other side stopped: an orderly end, or anything else. */
export type Closing = "end" | "reset";

const ENCODER = new TextEncoder();

/** Text as bytes; bytes as they are. */
export function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? ENCODER.encode(data) : data;
}

/** One connection. */
export class RawSocket {
  readonly #socket: Socket;
  readonly #queue: Uint8Array[] = [];
  #closing: Closing | undefined;
  #wake = (): void => {};
  /** Settles once the other side has closed or reset, or this side has let go. */
  readonly closed: Promise<Closing>;

  /** Takes a socket over. */
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
      // A copy: the socket may use its buffer again.
      this.#queue.push(new Uint8Array(piece));
      this.#wake();
    });
    socket.on("end", () => over("end"));
    socket.on("error", () => over("reset"));
    socket.on("close", () => over("reset"));
  }

  /** Connects to a port of this machine. */
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

  /** Writes; settles once the system has taken it, or the connection is gone. */
  send(data: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return this.closed.then(() => {});
    const taken = new Promise<void>((resolve) => {
      this.#socket.write(bytesOf(data), () => resolve());
    });
    return Promise.race([taken, this.closed.then(() => {})]);
  }

  /** The next bytes, or how the other side stopped. */
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

  /** Stops reading, so that the other side's writes pile up. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#socket.resume();
  }

  /** Ends this side in order: what was written arrives, then an end. */
  end(): void {
    this.#socket.end();
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Lets the connection go; doing so again changes nothing. */
  close(): void {
    this.#socket.destroy();
  }

  /** Lets the connection go. */
  [Symbol.dispose](): void {
    this.close();
  }
}
