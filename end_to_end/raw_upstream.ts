/**
 * An upstream on bare TCP for tests: it reads requests as HTTP and answers with whatever bytes a test gives it, well-formed or not.
 *
 * @module
 */
import { createServer, type Socket } from "node:net";
import type { VendorAccess } from "../gateway/config.ts";
import { replayVendors } from "../gateway/upstream/replay_vendors.ts";
import type { VendorName } from "../gateway/upstream/vendors.ts";
import { RawSocket } from "./raw_socket.ts";

/** One request of the gateway's, to be answered in bytes. */
export interface RawExchange {
  /** Request line and headers. */
  readonly head: string;
  /** The request's body. */
  readonly body: string;
  /** Counts connections from 1: two exchanges of one number came on one connection. */
  readonly connection: number;
  /** The connection. */
  readonly socket: RawSocket;
}

/** Answers; the connection stays open unless it closes it. What it throws fails the test that closes the upstream. */
export type RawAnswer = (exchange: RawExchange) => Promise<void> | void;

/** A running upstream. */
export interface RawUpstream {
  /** Every vendor, at this upstream. */
  readonly vendors: Readonly<Record<VendorName, VendorAccess>>;
  /** Every request so far. */
  readonly exchanges: readonly RawExchange[];
  /** Connections that are open now. */
  open(): number;
  /** Sets what the next requests are answered with. */
  answer(answer: RawAnswer): void;
  /** The next request that is not answered: it waits for the test. */
  next(): Promise<RawExchange>;
  /** Settles once no connection is open. */
  idle(): Promise<void>;
  /** Closes everything. */
  close(): Promise<void>;
}

const DECODER = new TextDecoder();

/** Starts one. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<RawSocket>();
  const exchanges: RawExchange[] = [];
  const faults: unknown[] = [];
  const serving = new Set<Promise<unknown>>();
  const idle = new Set<() => void>();
  let answer: RawAnswer = () => {};
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (plain: Socket) => {
    const socket = new RawSocket(plain);
    const connection = ++connections;
    sockets.add(socket);
    plain.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) { for (const tell of [...idle]) tell(); }
    });
    // A gateway that has ended its side is gone.
    socket.closed.then(() => socket.end());
    const serve = async (): Promise<void> => {
      for await (const { head, body } of requests(socket)) {
        const exchange = { head, body, connection, socket };
        exchanges.push(exchange);
        await answer(exchange);
      }
    };
    const served: Promise<unknown> = serve().catch((error) =>
      faults.push(error)
    ).finally(() => serving.delete(served));
    serving.add(served);
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve())
  );
  const address = server.address();
  if (typeof address !== "object" || address === null) {
    throw new Error("cannot tell the port: the server has no address");
  }
  return {
    vendors: replayVendors(`http://127.0.0.1:${address.port}`),
    exchanges,
    open: () => sockets.size,
    answer(next) {
      answer = next;
    },
    next: () =>
      new Promise((resolve) => {
        answer = (exchange) => resolve(exchange);
      }),
    idle: () =>
      new Promise((resolve) => {
        if (sockets.size === 0) return resolve();
        const tell = (): void => {
          idle.delete(tell);
          resolve();
        };
        idle.add(tell);
      }),
    async close() {
      const closed = new Promise<void>((resolve) =>
        server.close(() => resolve())
      );
      for (const socket of sockets) socket.close();
      await closed;
      // An answer may have to notice first that nobody is there.
      await Promise.all(serving);
      if (faults.length > 0) throw faults[0];
    },
  };
}

/** The requests of a connection, one after another; the gateway always tells their length. */
async function* requests(
  socket: RawSocket,
): AsyncGenerator<{ readonly head: string; readonly body: string }> {
  let bytes = new Uint8Array(0);
  const more = async (): Promise<boolean> => {
    const piece = await socket.read();
    if (typeof piece === "string") return false;
    const joined = new Uint8Array(bytes.length + piece.length);
    joined.set(bytes);
    joined.set(piece, bytes.length);
    bytes = joined;
    return true;
  };
  for (;;) {
    let end: number;
    while ((end = headEnd(bytes)) === -1) if (!await more()) return;
    const head = DECODER.decode(bytes.subarray(0, end));
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? "0");
    while (bytes.length < end + length) if (!await more()) return;
    const body = DECODER.decode(bytes.subarray(end, end + length));
    bytes = bytes.slice(end + length);
    yield { head, body };
  }
}

/** Where the body begins; -1 while the head is not whole. */
function headEnd(bytes: Uint8Array): number {
  for (let at = 3; at < bytes.length; at++) {
    if (
      bytes[at] === 10 && bytes[at - 1] === 13 && bytes[at - 2] === 10 &&
      bytes[at - 3] === 13
    ) return at + 1;
  }
  return -1;
}
