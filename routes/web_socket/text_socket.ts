/**
 * A web socket that carries text both ways, over a connection that its handshake has taken over.
 * The package `ws` reads and writes the frames; what it does not bound is bounded here.
 */
import type { Buffer } from "node:buffer";
// @ts-types="./ws.d.ts"
import { WebSocket, WebSocketServer } from "ws";
import type { HeaderFields } from "../../gateway/http/http_reply.ts";
import type { Timers } from "../../gateway/timers.ts";
import { ApiError } from "../../translate/model/error.ts";
import { CLOSED } from "./close_codes.ts";
import { ConnectionStream } from "./connection_stream.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Outbox } from "./outbox.ts";
import type { RawConnection } from "./raw_upgrade.ts";
import { UnfinishedMessage } from "./unfinished_message.ts";

/** Parts of one message. Each is an object in memory, however little it holds. */
const MAX_FRAGMENTS = 16 * 1024;
/** Reads of one frame have more bytes on average; in small frames, they may be slower. */
const LEAST_CHUNK_BYTES = 512;
const MAX_CHUNKS = 64 * 1024;
/** Pings that are answered while the client reads nothing. */
const MAX_PENDING_PONGS = 1000;
/** Longest time for a client to answer the close. */
const CLOSE_MS = 10_000;
/** A close frame has 125 bytes, and two are the code. */
const MAX_REASON_BYTES = 123;

/** Bounds on what a client may do. */
interface TextSocketBounds {
  /** Largest message. */
  readonly maxBytes: number;
  /** Time for a message to arrive. */
  readonly messageMs: number;
  /**
   * Half of it without a byte from the client causes a ping, the other half ends the connection.
   */
  readonly idleMs: number;
  /** How long the client may read nothing that waits for it. */
  readonly slowReaderMs: number;
}

/** What happens on a web socket. */
interface TextSocketHandlers {
  /** A whole message, not known to be JSON. */
  readonly text: (message: Uint8Array<ArrayBuffer>) => void;
  /** The client broke a rule: the connection must be closed with this code. */
  readonly fault: (code: number, error: ApiError) => void;
  readonly closed: () => void;
}

export class TextSocket {
  readonly #stream: ConnectionStream;
  readonly #outbox: Outbox;
  readonly #heartbeat: Heartbeat;
  readonly #unfinished: UnfinishedMessage;
  #socket: WebSocket | undefined;

  /** Answers the handshake of `request`, with `headers` in addition. */
  constructor(
    connection: RawConnection,
    request: Request,
    headers: HeaderFields,
    bounds: TextSocketBounds,
    timers: Timers,
    handlers: TextSocketHandlers,
  ) {
    const { maxBytes, messageMs, idleMs, slowReaderMs } = bounds;
    const tooLarge = (): void =>
      handlers.fault(
        CLOSED.tooLarge,
        new ApiError(
          "too_large",
          `the message is larger than ${maxBytes} bytes`,
          { retryable: false },
        ),
      );
    this.#unfinished = new UnfinishedMessage({
      maxBytes,
      timeoutMs: messageMs,
      tooLarge,
      tooSlow: () =>
        handlers.fault(
          CLOSED.refused,
          new ApiError(
            "request_timeout",
            "the message did not arrive in time",
          ),
        ),
    }, timers);
    this.#stream = new ConnectionStream(connection, maxBytes, timers, {
      arrived: (bytes) => {
        this.#heartbeat.heard();
        this.#unfinished.add(bytes);
      },
      handled: () =>
        this.#isOpen() ? this.#unfinished.settle() : this.#unfinished.clear(),
      sent: () => this.#outbox.sent(),
    });
    this.#outbox = new Outbox(
      () => this.#stream.writableLength,
      timers,
      slowReaderMs,
    );
    this.#heartbeat = new Heartbeat(idleMs, timers, {
      ping: () => this.#isOpen() && this.#socket?.ping(),
      gone: () => this.close(CLOSED.refused, "the client answers no ping"),
    });
    this.#stream.once("close", () => {
      this.#heartbeat.stop();
      this.#unfinished.clear();
      this.#outbox.closed();
      handlers.closed();
    });
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: Math.max(
        MAX_CHUNKS,
        Math.ceil(maxBytes / LEAST_CHUNK_BYTES),
      ),
      maxPendingAutoPongs: MAX_PENDING_PONGS,
      closeTimeout: Math.min(CLOSE_MS, idleMs),
      handleProtocols: () => false,
      WebSocket: ReasonedSocket,
    });
    server.on("headers", (lines: string[]) => {
      for (const [name, value] of Object.entries(headers)) {
        lines.push(`${name}: ${value}`);
      }
    });
    server.handleUpgrade(
      {
        method: request.method,
        url: request.url,
        headers: readHeaders(request),
      },
      this.#stream,
      new Uint8Array(),
      (socket) => {
        this.#socket = socket;
        socket.on("message", (data: Buffer<ArrayBuffer>, isBytes) => {
          this.#unfinished.takeMessage();
          if (!this.#isOpen()) return;
          if (!isBytes) {
            const { buffer, byteOffset, byteLength } = data;
            // A Buffer's own `slice` would not copy.
            return handlers.text(
              new Uint8Array(buffer, byteOffset, byteLength),
            );
          }
          handlers.fault(
            CLOSED.notText,
            invalid("a message must be text: JSON of one event"),
          );
        });
        for (const control of ["ping", "pong"]) {
          socket.on(
            control,
            (payload) => this.#unfinished.takeControl(payload),
          );
        }
        socket.on("error", (error: Error) => {
          const code = socket instanceof ReasonedSocket
            ? socket.faultCode
            : undefined;
          if (code === undefined) return;
          this.#stream.lingers = true;
          if (code === CLOSED.tooLarge) return tooLarge();
          handlers.fault(
            code,
            invalid(`the message cannot be read: ${error.message}`),
          );
        });
      },
    );
  }

  /** Sends a message; returns false if the client leaves too much unread. */
  send(text: string): boolean {
    if (!this.#isOpen()) return true;
    this.#socket?.send(text);
    return !this.#outbox.isOverfull(text.length);
  }

  hasRoom(): boolean {
    return !this.#isOpen() || this.#outbox.hasRoom();
  }

  room(): Promise<boolean> {
    return this.#outbox.room();
  }

  /** Closes it; a client that does not answer is cut off. */
  close(code: number, reason: string): void {
    this.#unfinished.clear();
    this.#socket?.close(code, beginning(reason));
  }

  #isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }
}

/** Does not close without a reason: the error that follows contains the reason. */
class ReasonedSocket extends WebSocket {
  /** The code for a fault of the client. */
  faultCode: number | undefined;

  override close(code?: number, reason?: string | Uint8Array): void {
    if (code !== undefined && reason === undefined) this.faultCode = code;
    else super.close(code, reason);
  }
}

/** The package reads these alone: it answers others by itself if they are malformed. */
function readHeaders({ headers }: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ["upgrade", "sec-websocket-key", "sec-websocket-version"].map((name) => [
      name,
      headers.get(name) ?? "",
    ]),
  );
}

/** As much of a reason as a close frame holds; reasons are ASCII. */
function beginning(reason: string): string {
  return reason.slice(0, MAX_REASON_BYTES);
}

function invalid(text: string): ApiError {
  return new ApiError("invalid_request", text, { retryable: false });
}
