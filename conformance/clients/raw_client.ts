/**
 * A client over a bare socket. It sends heads byte for byte, where `fetch` would repair or refuse
 * them, and parses the reply itself. It sends one request per connection, unless the connection is
 * kept.
 */
import type { Ongoing } from "./fetch_client.ts";
import { IdleTimeout } from "./idle_timeout.ts";
import { readBody, readHead } from "./raw_response.ts";
import { type Received, Transfer } from "./transfer.ts";

interface RawRequest {
  /** Scheme, host and port of the target. */
  readonly origin: URL;
  /**
   * Request line, headers and the blank line, exactly as they go out. Each character is one byte
   * (Latin-1).
   */
  readonly head: string;
  readonly body: Uint8Array;
  /**
   * Longest time without a new piece. A reply that still arrives may take four times as long in
   * all.
   */
  readonly timeoutMs: number;
  /**
   * The connection to reuse and keep. The whole request is then sent before the reply is read, as
   * blocking clients do.
   */
  readonly kept?: KeptConnection;
}

/** A connection for several requests, one after another. */
export class KeptConnection {
  /**
   * The open connection; undefined before the first request and after a reply that did not arrive
   * completely.
   */
  conn: Deno.Conn | undefined;

  close(): void {
    close(this.conn);
    this.conn = undefined;
  }
}

/** Sends bytes and records the reply. */
export function sendRaw(request: RawRequest): Ongoing {
  const transfer = new Transfer();
  let conn: Deno.Conn | undefined;
  let why: "timeout" | "hung-up" | undefined;
  const stop = (reason: "timeout" | "hung-up"): void => {
    why ??= reason;
    close(conn);
  };
  const patience = new IdleTimeout(request.timeoutMs, () => stop("timeout"));
  const receive = async (): Promise<Received> => {
    try {
      const { kept } = request;
      conn = kept?.conn ?? await connect(request.origin);
      if (kept !== undefined) kept.conn = undefined;
      if (why !== undefined) close(conn);
      const writing = writeAll(conn, [latin1(request.head), request.body]);
      // A target may answer and close before it has read everything.
      writing.catch(() => {});
      if (kept !== undefined) await writing;
      const pieces = read(conn);
      const { status, headers, isOld, rest } = await readHead(pieces);
      transfer.noteHead(status, headers, isOld);
      const method = request.head.split(" ", 1)[0] ?? "";
      const whole = await readBody(
        { method, status, headers, rest, pieces },
        (piece) => {
          patience.restart();
          transfer.notePiece(piece);
        },
      );
      if (whole && kept !== undefined) kept.conn = conn;
      return whole
        ? transfer.finish("complete")
        : transfer.finish("broken", "the body ended before its framing did");
    } catch (error) {
      if (why !== undefined) return transfer.finish(why);
      return transfer.finish(
        "broken",
        error instanceof Error ? error.message : String(error),
      );
    } finally {
      patience.stop();
      if (conn !== request.kept?.conn) close(conn);
    }
  };
  return { transfer, received: receive(), disconnect: () => stop("hung-up") };
}

export async function connect(origin: URL): Promise<Deno.Conn> {
  const hostname = origin.hostname.replace(/^\[|\]$/g, "");
  if (origin.protocol === "https:") {
    return await Deno.connectTls({
      hostname,
      port: Number(origin.port || 443),
    });
  }
  const conn = await Deno.connect({
    hostname,
    port: Number(origin.port || 80),
  });
  conn.setNoDelay(true);
  return conn;
}

export async function writeAll(
  conn: Deno.Conn,
  parts: readonly Uint8Array[],
): Promise<void> {
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      at += await conn.write(part.subarray(at));
    }
  }
}

async function* read(conn: Deno.Conn): AsyncGenerator<Uint8Array> {
  for (;;) {
    const buffer = new Uint8Array(65536);
    const count = await conn.read(buffer);
    if (count === null) return;
    yield buffer.subarray(0, count);
  }
}

export function close(conn: Deno.Conn | undefined): void {
  try {
    conn?.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** The bytes of a string whose characters are bytes (Latin-1). */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
}
