/**
 * An upstream of the chat format over plain TCP and over TLS. The model of a call names how the
 * upstream treats it, so tests can provoke every way in which a call can end.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { withTimeout } from "../with_timeout.ts";

/** The ways in which it treats a call. */
const BEHAVIOURS = [
  "whole",
  "stream",
  "error",
  "cut",
  "half",
  "reset-before",
  "reset-inside",
  "stall-before",
  "stall-inside",
  "flood",
] as const;

export type Behaviour = typeof BEHAVIOURS[number];

/** Ports of one kind of connection. */
interface FaultPorts {
  /** Port where replies end in any way except by a reset. */
  readonly port: number;
  /** Port where connections can be reset. */
  readonly resetPort: number;
}

export interface FaultUpstream {
  /** Without TLS. */
  readonly plain: FaultPorts;
  /** With the certificate of `right.pem`. */
  readonly secure: FaultPorts;
  /** Settles once the call whose text is the nonce has arrived. */
  arrived(nonce: string): Promise<void>;
  /** Settles once the connection that brought that call is closed. */
  gone(nonce: string): Promise<void>;
  /**
   * Ends the connections that are open, and resolves once the other side has closed them, too, so
   * that no request is sent on them. For times without a running call.
   */
  closeIdle(): Promise<void>;
  close(): void;
}

const CERTIFICATES = new URL("../certificates/", import.meta.url);

/** A certificate of the tests' own authority, or one with the fault that its name states. */
export function certificate(
  name:
    | "right"
    | "wrong_name"
    | "expired"
    | "unknown"
    | "client"
    | "issuers",
): { readonly cert: string; readonly key: string } {
  return {
    cert: Deno.readTextFileSync(new URL(`${name}.pem`, CERTIFICATES)),
    key: Deno.readTextFileSync(new URL(`${name}.key`, CERTIFICATES)),
  };
}

/** File of the authority that signed the certificates. */
export const AUTHORITY_FILE: string =
  new URL("authority.pem", CERTIFICATES).pathname;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

const FRAME = frame(8);
/** Large, so that few of them fill the buffers between the upstream and its reader. */
const FLOOD_FRAME = frame(3_000);

function frame(words: number): string {
  return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"${
    "word ".repeat(words)
  }"},"finish_reason":null}]}\n\n`;
}

const LAST_FRAMES =
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14}}\n\n' +
  "data: [DONE]\n\n";
const WHOLE =
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"word"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14}}';
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function whole(status: string, body: string, length = body.length): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

/** Whether sockets can be reset. Deno 2.5 only closes them, so there they need no front. */
export const CAN_RESET: boolean = !Deno.version.deno.startsWith("2.5.");

/** A front's event: it received bytes to forward. */
const FORWARDED = "forwarded";

interface Waits {
  readonly arrived: PromiseWithResolvers<void>;
  readonly gone: PromiseWithResolvers<void>;
}

export async function startFaultUpstream(): Promise<FaultUpstream> {
  const calls = new Map<string, Waits>();
  const waits = (nonce: string): Waits => {
    const known = calls.get(nonce);
    if (known !== undefined) return known;
    const made = {
      arrived: Promise.withResolvers<void>(),
      gone: Promise.withResolvers<void>(),
    };
    calls.set(nonce, made);
    return made;
  };
  /** Sockets in front of the listeners, by the port from which they forward. */
  const fronts = new Map<number, Socket>();
  const open = new Map<Deno.Conn, Promise<void>>();
  const serve = async (listener: Deno.Listener): Promise<void> => {
    for (;;) {
      let conn: Deno.Conn;
      try {
        conn = await listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource) return;
        // The handshake was refused.
        continue;
      }
      const ended = talk(conn, waits, fronts).catch(() => {}).finally(() => {
        open.delete(conn);
        closeQuietly(conn);
      });
      open.set(conn, ended);
    }
  };
  const plain = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const secure = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    ...certificate("right"),
    alpnProtocols: ["http/1.1"],
  });
  void serve(plain);
  void serve(secure);
  const servers: Server[] = [];
  const front = async (target: number): Promise<number> => {
    if (!CAN_RESET) return target;
    const server = createServer((socket: Socket) => {
      const inner = connect(target, "127.0.0.1", () => {
        if (inner.localPort !== undefined) fronts.set(inner.localPort, socket);
        socket.pipe(inner);
        inner.pipe(socket);
        inner.on("data", () => socket.emit(FORWARDED));
      });
      inner.on("error", () => socket.destroy());
      socket.on("error", () => inner.destroy());
      socket.on("close", () => inner.destroy());
    });
    servers.push(server);
    await new Promise<void>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve())
    );
    const address = server.address();
    if (typeof address !== "object" || address === null) {
      throw new Error("the server has no address");
    }
    return address.port;
  };
  const closeIdle = async (): Promise<void> => {
    const idle = [...open];
    for (const [conn] of idle) void conn.closeWrite().catch(() => {});
    await withTimeout(
      Promise.all(idle.map(([, ended]) => ended)),
      "the gateway to close idle connections",
    );
  };
  return {
    plain: { port: plain.addr.port, resetPort: await front(plain.addr.port) },
    secure: {
      port: secure.addr.port,
      resetPort: await front(secure.addr.port),
    },
    arrived: (nonce) => waits(nonce).arrived.promise,
    gone: (nonce) =>
      waits(nonce).gone.promise.finally(() => calls.delete(nonce)),
    closeIdle,
    close() {
      plain.close();
      secure.close();
      for (const server of servers) server.close();
      for (const socket of fronts.values()) socket.destroy();
      for (const conn of [...open.keys()]) closeQuietly(conn);
    },
  };
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Already closed.
  }
}

/** Answers the calls of a connection until it ends. */
async function talk(
  conn: Deno.Conn,
  waits: (nonce: string) => Waits,
  fronts: Map<number, Socket>,
): Promise<void> {
  const buffer = new Uint8Array(16 * 1024);
  const { remoteAddr } = conn;
  const port = "port" in remoteAddr ? remoteAddr.port : 0;
  let nonce: string | undefined;
  const send = async (text: string): Promise<void> => {
    let rest = ENCODER.encode(text);
    while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
  };
  try {
    let text = "";
    for (;;) {
      const read = await conn.read(buffer);
      if (read === null) return;
      text += DECODER.decode(buffer.subarray(0, read));
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
      if (end < 0 || text.length < end + 4 + length) continue;
      const call = text;
      text = "";
      const behaviour = /"model":"([a-z-]+)"/.exec(call)?.[1];
      nonce = /<<(\d+)>>/.exec(call)?.[1];
      if (nonce !== undefined) waits(nonce).arrived.resolve();
      const isStream = call.includes('"stream":true');
      switch (behaviour) {
        case "whole":
          await send(whole("200 OK", WHOLE));
          break;
        case "stream":
          await send(STREAM_HEAD + chunk(FRAME).repeat(4));
          await send(chunk(LAST_FRAMES) + chunk(""));
          break;
        case "error":
          await send(
            whole("500 Internal Server Error", '{"error":{"message":"x"}}'),
          );
          break;
        case "half":
          await send(whole("200 OK", WHOLE.slice(0, 50), WHOLE.length));
          return;
        case "cut":
          await send(STREAM_HEAD + chunk(FRAME).repeat(4));
          return;
        case "reset-before":
        case "reset-inside": {
          const socket = fronts.get(port);
          if (!CAN_RESET) {
            if (behaviour === "reset-inside") {
              await send(STREAM_HEAD + chunk(FRAME).repeat(4));
            }
            return;
          }
          if (socket === undefined) throw new Error("no socket to be reset");
          if (behaviour === "reset-inside") {
            const forwarded = new Promise((resolve) =>
              socket.once(FORWARDED, resolve)
            );
            await send(STREAM_HEAD + chunk(FRAME).repeat(4));
            await forwarded;
          }
          socket.resetAndDestroy();
          return;
        }
        case "stall-inside":
          await send(
            isStream
              ? STREAM_HEAD + chunk(FRAME).repeat(4)
              : whole("200 OK", "{", 100),
          );
          break;
        case "flood":
          await send(STREAM_HEAD);
          for (;;) await send(chunk(FLOOD_FRAME).repeat(4));
      }
    }
  } finally {
    fronts.delete(port);
    if (nonce !== undefined) waits(nonce).gone.resolve();
  }
}
