/**
 * Decodes the content encoding of a body.
 */
import { createGunzip, createInflate } from "node:zlib";
import { type Duplex, PassThrough } from "node:stream";
import { ApiError } from "../../../translate/model/error.ts";
import type { ByteSink, ByteSource } from "./byte_source.ts";

/**
 * The decompressed body. The gateway asks for no encoding, but some upstreams compress
 * nevertheless. Reading a body of another encoding fails: no client asked for its bytes, and Deno
 * 2.8 does not notice where one that is compressed with Brotli is cut.
 */
export function decompress(
  source: ByteSource,
  contentEncoding: string | undefined,
): ByteSource {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return source;
  const inflate = decoderOf(encoding);
  // It may fail before, or without, being read.
  inflate.on("error", () => {});
  const output = inflate[Symbol.asyncIterator]();
  const corrupt = new ApiError(
    "upstream",
    "could not decompress the upstream's reply",
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
    inflate.destroy(error instanceof Error ? error : corrupt)
  );
  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      const next = await output.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      throw error instanceof ApiError ? error : corrupt;
    }
  };
  let resumed = Promise.withResolvers<void>();
  resumed.resolve();
  const drain = async (sink: ByteSink): Promise<void> => {
    for (;;) {
      await resumed.promise;
      const chunk = await read();
      if (chunk === undefined) return sink.onEnd();
      sink.onChunk(chunk);
    }
  };
  return {
    read,
    pushTo(sink) {
      drain(sink).catch((error) => sink.onError(error));
    },
    pause() {
      resumed = Promise.withResolvers();
    },
    resume: () => resumed.resolve(),
    // This file reads the source, so bytes of the connection have to count.
    countOnlyFrames: () => () => {},
    cancel() {
      source.cancel();
      inflate.destroy();
      resumed.resolve();
    },
  };
}

function decoderOf(encoding: string): Duplex {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
  }
  return new PassThrough().destroy(
    new ApiError(
      "upstream",
      "the upstream's reply has a content-encoding that the gateway did not ask for",
    ),
  );
}
