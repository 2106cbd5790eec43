/**
 * An upstream on plain TCP for tests: it reads requests as HTTP and answers with the bytes that a
 * test gives it, well-formed or not.
 */
import { createServer, type Socket } from "node:net";
import type { VendorAccess } from "../../../gateway/settings/config.ts";
import { replayVendors } from "../../../gateway/upstream/catalogue/replay_vendors.ts";
import type { VendorName } from "../../../gateway/upstream/hosts/host.ts";
import { RawSocket } from "../clients/raw_socket.ts";

/** One request from the gateway; the test answers it in bytes. */
export interface RawRequest {
  /** Request line and headers, as text. */
  readonly head: string;
  readonly body: string;
  /** Number of the connection, from 1; requests on one connection share it. */
  readonly connection: number;
  readonly socket: RawSocket;
}

/**
 * Answers a request. The connection stays open unless this closes it. What it throws is thrown
 * again by `close()`.
 */
type RawHandler = (exchange: RawRequest) => Promise<void> | void;

export interface RawUpstream extends AsyncDisposable {
  /** Access to every vendor, all at this upstream. */
  readonly vendors: Readonly<Record<VendorName, VendorAccess>>;
  readonly requests: readonly RawRequest[];
  /** Number of open connections. */
  open(): number;
  /** Sets how the next requests are answered. */
  answer(answer: RawHandler): void;
  /** The next request, unanswered: the test answers it itself. */
  next(): Promise<RawRequest>;
  /** Resolves once no connection is open. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const DECODER = new TextDecoder();

/** Starts an upstream that answers nothing until `answer()` is called. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<RawSocket>();
  const exchanges: RawRequest[] = [];
  const faults: unknown[] = [];
  const serving = new Set<Promise<unknown>>();
  const idle = new Set<() => void>();
  let answer: RawHandler = () => {};
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (plain: Socket) => {
    const socket = new RawSocket(plain);
    const connection = ++connections;
    sockets.add(socket);
    plain.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) { for (const resolve of [...idle]) resolve(); }
    });
    // A gateway that has ended its side sends nothing more.
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
    throw new Error("the server has no port: it is not listening on TCP");
  }
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) =>
      server.close(() => resolve())
    );
    for (const socket of sockets) socket.close();
    await closed;
    // A running answer may notice the closed connection only now.
    await Promise.all(serving);
    if (faults.length > 0) throw faults[0];
  };
  return {
    vendors: replayVendors(`http://127.0.0.1:${address.port}`),
    requests: exchanges,
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
        const notify = (): void => {
          idle.delete(notify);
          resolve();
        };
        idle.add(notify);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The requests of a connection, one after another; the gateway always sends `content-length`. */
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

/** Where the body begins; -1 while the head is incomplete. */
function headEnd(bytes: Uint8Array): number {
  for (let at = 3; at < bytes.length; at++) {
    if (
      bytes[at] === 10 && bytes[at - 1] === 13 && bytes[at - 2] === 10 &&
      bytes[at - 3] === 13
    ) return at + 1;
  }
  return -1;
}
