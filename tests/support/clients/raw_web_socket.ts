/**
 * A web socket by hand, for frames that no client library sends.
 */
import assert from "node:assert/strict";
import { joinPieces } from "../../../translate/bytes/buffers.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { HANDSHAKE } from "./handshake.ts";
import { bytesOf, RawSocket } from "./raw_socket.ts";
import { TEST_KEY } from "../test_key.ts";
import { withTimeout } from "../with_timeout.ts";

/** The codes of frames (RFC 6455, 5.2). */
export const OPCODE = {
  continuation: 0,
  text: 1,
  bytes: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

/** What a frame of a client has beside its payload. */
export interface FrameOptions {
  /** False: more fragments follow. */
  readonly isLast?: boolean;
  /** The reserved bits, as 1 to 7. */
  readonly reserved?: number;
  /** Undefined: not masked. */
  readonly mask?: readonly [number, number, number, number] | undefined;
  /** The length that the frame announces, if it is not the payload's. */
  readonly announced?: number;
}

/** Encodes a frame, masked as those of clients must be. */
export function clientFrame(
  opcode: number,
  payload: string | Uint8Array = "",
  options: FrameOptions = {},
): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(payload);
  const { isLast = true, reserved = 0, announced = bytes.length } = options;
  const mask = "mask" in options ? options.mask : [7, 11, 13, 17];
  const long = new DataView(new ArrayBuffer(8));
  long.setBigUint64(0, BigInt(announced));
  const extended = announced < 126
    ? []
    : [...new Uint8Array(long.buffer, announced < 65_536 ? 6 : 0)];
  const size = announced < 126 ? announced : announced < 65_536 ? 126 : 127;
  const head = [
    (isLast ? 0x80 : 0) | reserved << 4 | opcode,
    (mask === undefined ? 0 : 0x80) | size,
    ...extended,
    ...mask ?? [],
  ];
  const frame = new Uint8Array(head.length + bytes.length);
  frame.set(head);
  frame.set(bytes, head.length);
  if (mask !== undefined) {
    for (let at = 0; at < bytes.length; at++) {
      frame[head.length + at] = (bytes[at] ?? 0) ^ (mask[at % 4] ?? 0);
    }
  }
  return frame;
}

/** What the gateway has sent; fragments are not expected. */
interface ServerFrame {
  readonly opcode: number;
  readonly payload: Uint8Array;
}

/** A connection after its handshake. */
export class RawWebSocket {
  readonly socket: RawSocket;
  /** The status line and the headers of the handshake's answer. */
  readonly head: string;
  #unread: Uint8Array;

  private constructor(socket: RawSocket, head: string, unread: Uint8Array) {
    this.socket = socket;
    this.head = head;
    this.#unread = unread;
  }

  /** Opens one. `first`: bytes that follow the handshake without waiting for its answer. */
  static async open(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    first: Uint8Array = new Uint8Array(),
  ): Promise<RawWebSocket> {
    const socket = await RawSocket.connect(Number(new URL(url).port));
    const lines = Object.entries({
      host: "127.0.0.1",
      authorization: `Bearer ${TEST_KEY}`,
      ...HANDSHAKE,
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await socket.send(
      joinPieces([
        bytesOf(`GET /v1/responses HTTP/1.1\r\n${lines}\r\n`),
        first,
      ]),
    );
    let head = "";
    const latin1 = new TextDecoder("latin1");
    while (!head.includes("\r\n\r\n")) {
      const piece = await withTimeout(socket.read(), "the handshake");
      if (typeof piece === "string") {
        socket.close();
        assert.fail(`${piece} after ${JSON.stringify(head)}`);
      }
      head += latin1.decode(piece);
    }
    const end = head.indexOf("\r\n\r\n") + 4;
    const rest = Uint8Array.from(head.slice(end), (one) => one.charCodeAt(0));
    return new RawWebSocket(socket, head.slice(0, end), rest);
  }

  send(bytes: Uint8Array): Promise<void> {
    return this.socket.send(bytes);
  }

  /** Sends a text message in one frame. */
  sendText(text: string): Promise<void> {
    return this.send(clientFrame(OPCODE.text, text));
  }

  /** The next frame; undefined after the last one. */
  async next(): Promise<ServerFrame | undefined> {
    for (;;) {
      const [first = 0, size = 0] = this.#unread;
      const view = new DataView(
        this.#unread.buffer,
        this.#unread.byteOffset,
        this.#unread.length,
      );
      const start = size < 126 ? 2 : size === 126 ? 4 : 10;
      if (this.#unread.length >= start) {
        const length = start === 2
          ? size
          : start === 4
          ? view.getUint16(2)
          : Number(view.getBigUint64(2));
        if (this.#unread.length >= start + length) {
          const payload = this.#unread.slice(start, start + length);
          this.#unread = this.#unread.slice(start + length);
          return { opcode: first & 0x0f, payload };
        }
      }
      const piece = await withTimeout(this.socket.read(), "a frame");
      if (typeof piece === "string") return undefined;
      this.#unread = joinPieces([this.#unread, piece]);
    }
  }

  /** The next event; pings are left unanswered. */
  async nextEvent(): Promise<JsonObject> {
    for (;;) {
      const frame = await this.next();
      assert.ok(frame !== undefined, "the connection is closed");
      if (frame.opcode === OPCODE.ping || frame.opcode === OPCODE.pong) {
        continue;
      }
      const text = new TextDecoder().decode(frame.payload);
      assert.equal(frame.opcode, OPCODE.text, text.slice(2));
      return JSON.parse(text);
    }
  }

  /** The code and the reason of the next close; the frames before it are dropped. */
  async closeFrame(): Promise<readonly [number, string]> {
    for (;;) {
      const frame = await this.next();
      assert.ok(frame !== undefined, "closed without a code");
      if (frame.opcode !== OPCODE.close) continue;
      const { payload } = frame;
      return [
        (payload[0] ?? 0) << 8 | (payload[1] ?? 0),
        new TextDecoder().decode(payload.subarray(2)),
      ];
    }
  }

  /** Leaves without a close. */
  [Symbol.dispose](): void {
    this.socket.close();
  }
}
