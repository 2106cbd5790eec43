/**
 * The body of an upstream's response, chunk by chunk: either pulled or pushed to a sink.
 */

/** Receives the chunks of a body. */
export interface ByteSink {
  /** The next chunk. */
  onChunk(bytes: Uint8Array): void;
  /** The body has ended. */
  onEnd(): void;
  /** The body failed, with an `ApiError` like that of {@linkcode ByteSource.read}. */
  onError(error: unknown): void;
}

/** A body that is read in chunks, with backpressure. */
export interface ByteSource {
  /**
   * The next chunk; undefined at the end.
   *
   * @throws {ApiError} `timeout` after too long a silence, `upstream` if the connection failed
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Pushes all chunks to `sink` from now on, buffered ones immediately. A pending `read()` never
   * settles.
   */
  pushTo(sink: ByteSink): void;
  /** Stops reading from the connection; a few chunks may still arrive. */
  pause(): void;
  /** Reverts {@linkcode ByteSource.pause}. */
  resume(): void;
  /**
   * Makes the reader's signs of life count for the limit on silence from now on, instead of pushed
   * bytes: those may be keep-alive comments alone. Returns the function that notes one.
   */
  countOnlyFrames(): () => void;
  /** Closes the connection. Nothing may be read afterwards; a sink receives at most a failure. */
  cancel(): void;
}
