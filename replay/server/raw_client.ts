/** A client over a bare TCP socket: it sends raw text and reads each segment as it arrives. */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** How the server closed the connection. */
type Closing = "fin" | "reset";

export class RawClient {
  readonly #conn: Deno.TcpConn;
  #closed = false;

  private constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
  }

  /** Connects to a port, by default of this host. */
  static async connect(
    port: number,
    hostname = "127.0.0.1",
  ): Promise<RawClient> {
    const conn = await Deno.connect({ hostname, port });
    conn.setNoDelay(true);
    return new RawClient(conn);
  }

  /** Sends a text unchanged, as UTF-8. */
  async send(text: string): Promise<void> {
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length;) {
      at += await this.#conn.write(bytes.subarray(at));
    }
  }

  /** Sends a POST request with a JSON body and a content-length. */
  post(path: string, body: unknown): Promise<void> {
    const text = JSON.stringify(body);
    const length = encoder.encode(text).length;
    return this.send(
      `POST ${path} HTTP/1.1\r\nhost: replay\r\ncontent-length: ${length}\r\n\r\n${text}`,
    );
  }

  /** The next segment, or how the server closed the connection. */
  async read(): Promise<Uint8Array | Closing> {
    const buffer = new Uint8Array(65536);
    try {
      const count = await this.#conn.read(buffer);
      return count === null ? "fin" : buffer.subarray(0, count);
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionReset) return "reset";
      throw error;
    }
  }

  /**
   * Reads until the text has arrived; returns everything read by this call.
   * @throws {Error} when the connection closes first
   */
  async readUntil(text: string): Promise<string> {
    let seen = "";
    while (!seen.includes(text)) {
      const piece = await this.read();
      if (typeof piece === "string") {
        throw new Error(
          `Cannot read until ${JSON.stringify(text)}: ${piece} after ${
            JSON.stringify(seen)
          }`,
        );
      }
      seen += decoder.decode(piece);
    }
    return seen;
  }

  /** Reads until the connection closes: the text of each read, and how it closed. */
  async readToEnd(): Promise<
    { readonly reads: readonly string[]; readonly closing: Closing }
  > {
    const reads: string[] = [];
    for (;;) {
      const piece = await this.read();
      if (typeof piece === "string") return { reads, closing: piece };
      reads.push(decoder.decode(piece));
    }
  }

  /** Closes the connection; closing again changes nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#conn.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
