/**
 * A body as it comes from an upstream: pulled piece by piece, or pushed to whoever takes it.
 *
 * @module
 */

/** Takes a body's pieces as they come. */
export interface ByteSink {
  /** The next piece. */
  piece(bytes: Uint8Array): void;
  /** There are no more. */
  ended(): void;
  /** The body broke: an `ApiError` as {@linkcode ByteSource.read} throws it. */
  failed(error: unknown): void;
}

/** A body that is read piece by piece, with backpressure. */
export interface ByteSource {
  /**
   * The next piece; undefined at the end.
   *
   * @throws {ApiError} `timeout` after too long a silence, `upstream` where the connection broke
   */
  read(): Promise<Uint8Array | undefined>;
  /** From now on pieces go to `sink`, those that wait already at once. A read under way never comes back. */
  flow(sink: ByteSink): void;
  /** Asks for no more pieces for now; a few may still come. */
  pause(): void;
  /** Takes {@linkcode ByteSource.pause} back. */
  resume(): void;
  /** Lets the connection go. Nothing may be read afterwards, and a sink hears no more, or that the body broke. */
  cancel(): void;
}
