/** An open connection, as far as HTTP needs it. */

/** Connections of Deno are such, and `node_tls.ts` makes others. */
export interface Conn {
  /** Reads some bytes; null at the end. One read at a time. */
  read(into: Uint8Array): Promise<number | null>;
  /** Writes some of the bytes, and returns how many. One write at a time. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends reads and writes. */
  close(): void;
}
