/**
 * A request body that undici does not keep. undici holds a body of bytes until the response has
 * ended, which is a copy of the prompt for every open stream.
 */

/** A smaller body is sent as bytes, which takes fewer steps. */
const MIN_BYTES = 16 * 1024;

const NOTHING = new Uint8Array(0);

/** A body as an iterable of one piece. Needs a `content-length` header. */
export class ReleasableBody implements AsyncIterable<Uint8Array> {
  #bytes: Uint8Array;

  /** Takes the bytes as they are. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Begins again each time: a request is sent twice if an idle connection proves to be closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield this.#bytes;
  }

  /** Drops the bytes. Those that a connection has taken are still sent. */
  release(): void {
    this.#bytes = NOTHING;
  }
}

/** The body to release once the response has begun; undefined if it is small. */
export function releasableBody(bytes: Uint8Array): ReleasableBody | undefined {
  return bytes.length < MIN_BYTES ? undefined : new ReleasableBody(bytes);
}
