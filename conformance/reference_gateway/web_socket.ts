/** The reference gateway's end of a web socket (RFC 6455), over a bare socket. */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { Buffer, isUtf8 } from "node:buffer";
import {
  frameBytes,
  OPCODE,
  type ReadFrame,
  readFrame,
  type WebSocketFrame,
} from "../evidence/web_socket_frame.ts";
import type { FrameHooks, RightFrame, WrongFrame } from "./hooks.ts";

/** What the other end does. */
interface SocketEvents {
  /** A whole text message arrived. */
  readonly text: (message: string) => void;
  /** The other end closed the connection. */
  readonly closed: () => void;
}

const SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KNOWN: ReadonlySet<number> = new Set(Object.values(OPCODE));
const MAX_BYTES = 4 * 1024 * 1024;

/** Codes of a close, by what was wrong. */
const CODES: Readonly<Record<WrongFrame, number>> = {
  unmasked: 1002,
  reserved: 1002,
  unknown: 1002,
  malformed: 1007,
  size: 1009,
};

/** The value of `sec-websocket-accept` for a key. */
export function acceptOf(key: string): string {
  return createHash("sha1").update(key + SUFFIX).digest("base64");
}

/** Reads the frames of a client; returns how messages are sent. */
export function speakWebSocket(
  socket: Socket,
  { text, closed }: SocketEvents,
  hooks: FrameHooks = {},
): (message: string) => void {
  let held: Buffer = Buffer.alloc(0);
  let parts: Uint8Array[] = [];
  let isOver = false;
  const send = (opcode: number, payload: Uint8Array): void => {
    if (socket.destroyed || isOver) return;
    const frame: WebSocketFrame = {
      opcode,
      isLast: true,
      reserved: 0,
      isMasked: false,
      payload,
    };
    socket.write(frameBytes(hooks.own?.(frame) ?? frame));
  };
  const end = (code: number): void => {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    send(OPCODE.close, payload);
    isOver = true;
    socket.end();
  };
  const isWrong = (problem: WrongFrame, is: boolean): boolean => {
    if (!is || hooks.accepts?.(problem) === true) return false;
    end(hooks.faultCode?.() ?? CODES[problem]);
    return true;
  };
  const isRefused = (what: RightFrame, is: boolean): boolean => {
    if (!is || hooks.refuses?.(what) !== true) return false;
    end(1002);
    return true;
  };
  const take = (frame: ReadFrame): void => {
    const { opcode, isLast, isMasked, reserved, payload } = frame;
    const isControl = opcode >= OPCODE.close;
    if (
      isWrong("unmasked", !isMasked) || isWrong("reserved", reserved !== 0) ||
      isWrong("unknown", !KNOWN.has(opcode)) ||
      isRefused("ping", opcode === OPCODE.ping && parts.length === 0) ||
      isRefused("fragment", !isControl && !isLast) ||
      isRefused("interruption", isControl && parts.length > 0)
    ) return;
    if (isControl && hooks.keepsParts?.() === false) parts = [];
    if (opcode === OPCODE.close) {
      const answer = hooks.closing === undefined
        ? payload
        : hooks.closing(payload);
      if (answer !== undefined) send(OPCODE.close, answer);
      if (hooks.endsConnection?.() !== false) socket.end();
      return;
    }
    if (opcode === OPCODE.ping) {
      const answer = hooks.pong === undefined ? payload : hooks.pong(payload);
      if (answer !== undefined) send(OPCODE.pong, answer);
    }
    if (isControl) return;
    parts.push(payload);
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    if (isWrong("size", size > MAX_BYTES)) return;
    if (size > MAX_BYTES) parts = [];
    if (!isLast) return;
    const message = Buffer.concat(parts);
    if (isWrong("malformed", !isUtf8(message))) return;
    text(hooks.join?.(parts) ?? message.toString("utf8"));
    parts = [];
  };
  socket.on("close", closed);
  socket.on("data", (piece: Uint8Array) => {
    if (isOver) return;
    held = Buffer.concat([held, piece]);
    for (
      let frame = readFrame(held);
      frame !== undefined && !isOver;
      frame = readFrame(held)
    ) {
      held = held.subarray(frame.length);
      take(frame);
    }
  });
  return (message) => send(OPCODE.text, Buffer.from(message));
}
