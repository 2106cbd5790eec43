/**
 * A client of a web socket. A turn is recorded as an event stream whose frames are the messages, so
 * that the same readers read it.
 */
import type { Ongoing } from "./fetch_client.ts";
import { isObject, parseJson } from "@model-gateway/replay/json";
import { type Received, Transfer } from "./transfer.ts";

const encoder = new TextEncoder();

/** A message that is no text; the readers find no JSON in it. */
const BINARY = "(binary)";

interface Turn {
  readonly transfer: Transfer;
  readonly settle: (received: Received) => void;
  /** Replies that are still to end. */
  left: number;
}

/** True for the last message of a reply, and for a refusal in place of one. */
function isEnd(text: string): boolean {
  const event = parseJson(text);
  if (!isObject(event)) return false;
  const type = String(event["type"]);
  // An error inside a reply has no status; the failed reply follows it.
  return type === "error"
    ? event["status"] !== undefined
    : /^response\.(completed|incomplete|failed|steer\.failed)$/.test(type);
}

export class WebSocketClient {
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #closed = Promise.withResolvers<number>();
  #turn: Turn | undefined;

  private constructor(socket: WebSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.onmessage = ({ data }) => this.#message(data);
    socket.onclose = ({ code }) => {
      this.#closed.resolve(code);
      this.#end("broken");
    };
  }

  /**
   * Opens a connection.
   * @throws when the handshake fails or takes too long
   */
  static async open(
    url: string,
    headers: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<WebSocketClient> {
    const socket = new WebSocket(url, { headers: { ...headers } });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error("the handshake of the web socket took too long")),
      timeoutMs,
    );
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the web socket was refused"));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      socket.onerror = null;
    }
    return new WebSocketClient(socket, timeoutMs);
  }

  /** Sends a message; the turn ends with that many replies. */
  turn(texts: readonly string[]): Ongoing {
    const transfer = new Transfer();
    const { promise, resolve } = Promise.withResolvers<Received>();
    transfer.noteHead(101, [["upgrade", "websocket"]]);
    const timer = setTimeout(() => this.#end("timeout"), this.#timeoutMs);
    this.#turn = {
      transfer,
      left: texts.length,
      settle: (received) => {
        clearTimeout(timer);
        resolve(received);
      },
    };
    for (const text of texts) {
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
      else this.#end("broken");
    }
    return {
      transfer,
      received: promise,
      disconnect: () => {
        this.#end("hung-up");
        this.#socket.close();
      },
    };
  }

  /** Closes the connection, and waits for that. */
  async close(): Promise<void> {
    this.#socket.close();
    const timer = setTimeout(
      () => this.#closed.resolve(0),
      this.#timeoutMs,
    );
    await this.#closed.promise;
    clearTimeout(timer);
  }

  #message(data: unknown): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const text = typeof data === "string" ? data : BINARY;
    const lines = text.split("\n").map((line) => `data: ${line}\n`).join("");
    turn.transfer.notePiece(encoder.encode(`${lines}\n`));
    if (isEnd(text) && --turn.left === 0) this.#end("complete");
  }

  #end(how: "complete" | "broken" | "timeout" | "hung-up"): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    turn.settle(turn.transfer.finish(how));
  }
}
