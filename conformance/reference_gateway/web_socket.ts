/** The reference gateway's end of a web socket (RFC 6455), over a bare socket. */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { Buffer } from "node:buffer";

/** What the other end does. */
export interface SocketEvents {
  /** A whole text message arrived. */
  readonly text: (message: string) => void;
  /** The other end closed the connection. */
  readonly closed: () => void;
}

const SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OPCODE = { text: 1, close: 8, ping: 9, pong: 10 } as const;

/** The value of `sec-websocket-accept` for a key. */
export function acceptOf(key: string): string {
  return createHash("sha1").update(key + SUFFIX).digest("base64");
}

/** Reads the frames of a client; returns how messages are sent. */
export function speakWebSocket(
  socket: Socket,
  { text, closed }: SocketEvents,
): (message: string) => void {
  let held: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  const send = (opcode: number, payload: Buffer): void => {
    if (!socket.destroyed) socket.write(frameOf(opcode, payload));
  };
  socket.on("close", closed);
  socket.on("data", (piece: Uint8Array) => {
    held = Buffer.concat([held, piece]);
    for (let frame = read(held); frame !== undefined; frame = read(held)) {
      held = held.subarray(frame.length);
      switch (frame.opcode) {
        case OPCODE.close:
          send(OPCODE.close, frame.payload);
          socket.end();
          break;
        case OPCODE.ping:
          send(OPCODE.pong, frame.payload);
          break;
        case OPCODE.pong:
          break;
        default:
          parts.push(frame.payload);
          if (!frame.isLast) break;
          text(Buffer.concat(parts).toString("utf8"));
          parts = [];
      }
    }
  });
  return (message) => send(OPCODE.text, Buffer.from(message));
}

interface ReadFrame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
  /** Bytes of the frame. */
  readonly length: number;
}

/** The first frame; undefined while it is not whole. */
function read(bytes: Buffer): ReadFrame | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
  const head = 2 + wide + 4;
  if (bytes.length < head) return undefined;
  const size = wide === 0
    ? short
    : wide === 2
    ? bytes.readUInt16BE(2)
    : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < head + size) return undefined;
  const mask = bytes.subarray(head - 4, head);
  const payload = Buffer.from(
    bytes.subarray(head, head + size).map((byte, at) =>
      byte ^ (mask[at % 4] ?? 0)
    ),
  );
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    payload,
    length: head + size,
  };
}

function frameOf(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const head = size < 126
    ? Buffer.from([0x80 | opcode, size])
    : Buffer.alloc(size < 65_536 ? 4 : 10);
  if (size >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = size < 65_536 ? 126 : 127;
    if (size < 65_536) head.writeUInt16BE(size, 2);
    else head.writeBigUInt64BE(BigInt(size), 2);
  }
  return Buffer.concat([head, payload]);
}
