/** Reads a `fetch` body such that an abort always ends the transfer. */

const BUFFER_BYTES = 64 * 1024;

/**
 * The pieces of a body; aborting the signal ends them and closes the connection.
 *
 * The signal given to `fetch` is not enough: `fetch` listens through a signal of its own, which may
 * be garbage-collected while the body is still being read (seen with Deno 2.8.2), and then the
 * connection stays open.
 */
export async function* readBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" });
  const stop = (): void => {
    reader.cancel().catch(() => {});
  };
  signal.addEventListener("abort", stop);
  try {
    // One buffer for all reads: most pieces are far smaller.
    let buffer = new ArrayBuffer(BUFFER_BYTES);
    for (;;) {
      if (signal.aborted) stop();
      const { value, done } = await reader.read(new Uint8Array(buffer));
      signal.throwIfAborted();
      if (done) return;
      yield value.slice();
      buffer = value.buffer;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
