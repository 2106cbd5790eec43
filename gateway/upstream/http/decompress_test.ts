import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { ByteSource } from "./byte_source.ts";
import { decompress } from "./decompress.ts";

/** A source of some pieces, which then fails. */
function failing(...pieces: Uint8Array[]): ByteSource {
  return {
    read: () => {
      const piece = pieces.shift();
      return piece === undefined
        ? Promise.reject(new Error("cut"))
        : Promise.resolve(piece);
    },
    pushTo: () => {},
    pause: () => {},
    resume: () => {},
    countOnlyFrames: () => () => {},
    cancel: () => {},
  };
}

Deno.test("a body that fails before it is read is no uncaught exception", async () => {
  for (const encoding of ["gzip", "deflate", "br", "zstd"]) {
    const body = decompress(failing(gzipSync("a").subarray(0, 9)), encoding);
    // Later than any event of it.
    await new Promise((resolve) => void setTimeout(resolve));
    await new Promise((resolve) => void setTimeout(resolve));
    await assert.rejects(body.read());
  }
});
