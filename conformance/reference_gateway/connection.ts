/**
 * The reference gateway's HTTP/1.1 over a bare socket, so that a mutant can change every byte of
 * it. It serves one request per connection.
 */
import type { Socket } from "node:net";
import {
  BadRequest,
  RequestReader,
} from "@model-gateway/replay/request_reader";
import type { ReplayRequest } from "@model-gateway/replay/script";
import type { Writer } from "./hooks.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const encoder = new TextEncoder();

/** A request that arrived on a socket. */
export interface Arrived {
  /** The request; undefined when the bytes are malformed. */
  readonly request: ReplayRequest | undefined;
  /** The status with which to refuse malformed bytes. */
  readonly badStatus: number;
  readonly writer: Writer;
  /** The connection; absent for a turn of a web socket. */
  readonly socket?: Socket;
  /** Aborted when the client disconnects before the response has ended. */
  readonly left: AbortSignal;
}

/** Reads the only request of a socket and passes it to `handle`. */
export function serveSocket(
  socket: Socket,
  handle: (arrived: Arrived) => Promise<void>,
): void {
  const reader = new RequestReader(MAX_BODY_BYTES);
  const left = new AbortController();
  const state = { over: false, begun: false };
  const leave = (): void => {
    if (!state.over) left.abort();
    socket.destroy();
  };
  const begin = (
    request: ReplayRequest | undefined,
    badStatus: number,
  ): void => {
    state.begun = true;
    const writer = socketWriter(socket, request?.method === "HEAD", () => {
      state.over = true;
    });
    handle({ request, badStatus, writer, socket, left: left.signal }).catch(
      () => socket.destroy(),
    );
  };
  socket.setNoDelay(true);
  socket.on("error", leave);
  socket.on("close", leave);
  socket.on("end", leave);
  socket.on("data", (piece: Uint8Array) => {
    if (state.begun) return;
    reader.push(new Uint8Array(piece));
    try {
      const received = reader.next(() =>
        socket.write("HTTP/1.1 100 Continue\r\n\r\n")
      );
      if (received !== undefined) begin(received.request, 0);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      begin(undefined, error.status);
    }
  });
}

function socketWriter(
  socket: Socket,
  bodyless: boolean,
  done: () => void,
): Writer {
  let chunked = false;
  const write = (bytes: Uint8Array | string): void => {
    if (!socket.destroyed) socket.write(bytes);
  };
  return {
    head: (status, { connection = "close", ...headers }) => {
      chunked = headers["transfer-encoding"] === "chunked";
      const lines = Object.entries(headers).map(([name, value]) =>
        `${name}: ${value}\r\n`
      );
      write(
        `HTTP/1.1 ${status} Status\r\nconnection: ${connection}\r\n${
          lines.join("")
        }\r\n`,
      );
    },
    piece: (bytes) => {
      if (bodyless || bytes.length === 0) return;
      if (!chunked) return write(bytes);
      const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
      const chunk = new Uint8Array(size.length + bytes.length + 2);
      chunk.set(size);
      chunk.set(bytes, size.length);
      chunk.set([13, 10], size.length + bytes.length);
      write(chunk);
    },
    end: () => {
      if (chunked && !bodyless) write("0\r\n\r\n");
      done();
      socket.end();
    },
    reset: () => {
      done();
      socket.resetAndDestroy();
    },
  };
}
