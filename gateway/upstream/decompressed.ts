/**
 * Taking the content encoding off a body.
 *
 * @module
 */
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ApiError } from "../../translate/error.ts";
import type { ByteSink, ByteSource } from "./byte_source.ts";

/** The body without its content encoding. None is asked for, but some upstreams compress all the same. */
export function decompressed(
  source: ByteSource,
  contentEncoding: string | undefined,
): ByteSource {
  const encoding = contentEncoding?.trim().toLowerCase();
  const inflate = encoding === "gzip" || encoding === "x-gzip"
    ? createGunzip()
    : encoding === "deflate"
    ? createInflate()
    : encoding === "br"
    ? createBrotliDecompress()
    : undefined;
  if (inflate === undefined) return source;
  const output = inflate[Symbol.asyncIterator]();
  const broken = new ApiError(
    "upstream",
    "could not read the upstream's reply: its compression is broken",
  );
  const feed = async (): Promise<void> => {
    for (;;) {
      const chunk = await source.read();
      if (chunk === undefined) break;
      if (!inflate.write(chunk)) {
        await new Promise((resolve) => inflate.once("drain", resolve));
      }
    }
    inflate.end();
  };
  feed().catch((error) =>
    inflate.destroy(error instanceof Error ? error : broken)
  );
  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      const next = await output.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      throw error instanceof ApiError ? error : broken;
    }
  };
  let going = Promise.withResolvers<void>();
  going.resolve();
  const drain = async (sink: ByteSink): Promise<void> => {
    for (;;) {
      await going.promise;
      const piece = await read();
      if (piece === undefined) return sink.ended();
      sink.piece(piece);
    }
  };
  return {
    read,
    flow(sink) {
      drain(sink).catch((error) => sink.failed(error));
    },
    pause() {
      going = Promise.withResolvers();
    },
    resume: () => going.resolve(),
    cancel() {
      source.cancel();
      inflate.destroy();
      going.resolve();
    },
  };
}
