/** A client of a web socket that sends frames as they are given, also wrong ones. */
import {
  frameBytes,
  OPCODE,
  readFrame,
  type WebSocketFrame,
} from "../evidence/web_socket_frame.ts";
import { close, connect, latin1, writeAll } from "./raw_client.ts";

/** How an answer fails to come: the connection has ended, or nothing arrived in time. */
type NoFrame = "ended" | "silent";

/** The fields of a frame that differ from those of a whole text message of a client. */
export type FrameFields = Partial<Omit<WebSocketFrame, "payload">>;

const encoder = new TextEncoder();

export class FrameClient {
  readonly #conn: Deno.Conn;
  readonly #timeoutMs: number;
  #held: Uint8Array;
  #reading: Promise<Uint8Array | undefined> | undefined;

  private constructor(conn: Deno.Conn, held: Uint8Array, timeoutMs: number) {
    this.#conn = conn;
    this.#held = held;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sends the head of a handshake.
   * @throws when it is not answered with 101
   */
  static async open(
    origin: URL,
    head: string,
    timeoutMs: number,
  ): Promise<FrameClient> {
    const conn = await connect(origin);
    const timer = setTimeout(() => close(conn), timeoutMs);
    try {
      await writeAll(conn, [latin1(head)]);
      let answer = "";
      for (;;) {
        const piece = await readPiece(conn);
        if (piece === undefined) throw new Error("no answer to the handshake");
        for (const byte of piece) answer += String.fromCharCode(byte);
        const end = answer.indexOf("\r\n\r\n");
        if (end < 0) continue;
        if (!/^HTTP\/1\.1 101 /.test(answer)) {
          throw new Error(`the handshake was answered ${answer.slice(0, 80)}`);
        }
        return new FrameClient(conn, latin1(answer.slice(end + 4)), timeoutMs);
      }
    } catch (error) {
      close(conn);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends frames at once; those of a connection that has ended are lost. */
  async send(
    ...frames: readonly (readonly [string | Uint8Array, FrameFields?])[]
  ): Promise<void> {
    const parts = frames.map(([payload, fields = {}]) =>
      frameBytes({
        opcode: OPCODE.text,
        isLast: true,
        reserved: 0,
        isMasked: true,
        payload: typeof payload === "string"
          ? encoder.encode(payload)
          : payload,
        ...fields,
      })
    );
    await writeAll(this.#conn, parts).catch(() => {});
  }

  async next(): Promise<WebSocketFrame | NoFrame> {
    for (;;) {
      const frame = readFrame(this.#held);
      if (frame !== undefined) {
        this.#held = this.#held.slice(frame.length);
        return frame;
      }
      const { promise, resolve } = Promise.withResolvers<"silent">();
      const timer = setTimeout(() => resolve("silent"), this.#timeoutMs);
      this.#reading ??= readPiece(this.#conn);
      const piece = await Promise.race([this.#reading, promise]);
      clearTimeout(timer);
      if (piece === "silent") return piece;
      this.#reading = undefined;
      if (piece === undefined) return "ended";
      const held = new Uint8Array(this.#held.length + piece.length);
      held.set(this.#held);
      held.set(piece, this.#held.length);
      this.#held = held;
    }
  }

  /** Ends the connection without a close. */
  close(): void {
    close(this.#conn);
  }
}

/** The next bytes; undefined after the last ones. */
async function readPiece(conn: Deno.Conn): Promise<Uint8Array | undefined> {
  const buffer = new Uint8Array(65_536);
  try {
    const count = await conn.read(buffer);
    return count === null ? undefined : buffer.subarray(0, count);
  } catch {
    return undefined;
  }
}
