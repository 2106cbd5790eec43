/**
 * The part of the package `ws` that is used. Its published types need those of Node, which replace
 * Deno's.
 */
import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";

/** What the handshake of the package reads of a request. */
export interface HandshakeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export declare class WebSocket extends EventEmitter {
  static readonly OPEN: 1;
  readonly readyState: number;
  send(text: string): void;
  ping(): void;
  close(code?: number, reason?: string | Uint8Array): void;
}

export declare class WebSocketServer extends EventEmitter {
  constructor(options: {
    readonly noServer: true;
    readonly clientTracking: false;
    readonly perMessageDeflate: false;
    readonly maxPayload: number;
    readonly maxFragments: number;
    readonly maxBufferedChunks: number;
    readonly maxPendingAutoPongs: number;
    readonly closeTimeout: number;
    readonly handleProtocols: () => false;
    readonly WebSocket: typeof WebSocket;
  });
  handleUpgrade(
    request: HandshakeRequest,
    stream: Duplex,
    head: Uint8Array,
    opened: (socket: WebSocket) => void,
  ): void;
}
