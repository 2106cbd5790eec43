import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { soon } from "../../end_to_end/soon.ts";
import { gatewayTimers } from "../timers.ts";
import type { ByteSource } from "./byte_source.ts";
import { upstreamClient } from "./http_client.ts";

const SIZE = 4 * 1024 * 1024;
/** Far more than it takes until the client has read as much as it keeps, and made the upstream pause. */
const MANY_TURNS = 500;

/** Runs with a body of many bytes, of which nothing has been read. */
async function withLargeBody(
  run: (body: ByteSource) => Promise<void>,
): Promise<void> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(new Uint8Array(SIZE)),
  );
  const limits = { connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000 };
  const client = upstreamClient(
    { ...limits, idleTimeoutMs: 60_000 },
    gatewayTimers(),
  );
  try {
    const { body } = await client.call({
      url: `http://127.0.0.1:${server.addr.port}/`,
      headers: {},
      body: new Uint8Array(0),
      signal: new AbortController().signal,
    });
    await run(body);
  } finally {
    await client.close();
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

Deno.test("a body that has waited for its reader until it paused flows on to its end", () =>
  withLargeBody(async (body) => {
    await turns(MANY_TURNS);
    let size = 0;
    await soon(
      new Promise<void>((resolve, reject) =>
        body.flow({
          piece: (bytes) => {
            size += bytes.length;
          },
          ended: resolve,
          failed: reject,
        })
      ),
      "the body's end",
    );
    assert.equal(size, SIZE);
  }));

for (const isFullFirst of [false, true]) {
  Deno.test(`a body that was told to pause before it flows goes on when it is told to${isFullFirst ? ", though its queue was full" : ""}`, () =>
    withLargeBody(async (body) => {
      // In either order of the two reasons for which the upstream pauses.
      if (isFullFirst) await turns(MANY_TURNS);
      body.pause();
      await turns(MANY_TURNS);
      let size = 0;
      let resumed = false;
      let after = 0;
      const flown = new Promise<void>((resolve, reject) => {
        body.flow({
          piece: (bytes) => {
            size += bytes.length;
            if (resumed) after += bytes.length;
          },
          ended: resolve,
          failed: reject,
        });
        turns(MANY_TURNS).then(() => {
          resumed = true;
          body.resume();
        }, reject);
      });
      await soon(flown, "the body's end");
      assert.equal(size, SIZE);
      assert.ok(after > SIZE / 2, "most of it comes after the pause");
    }));
}

Deno.test("a body that is read piece by piece comes whole", () =>
  withLargeBody(async (body) => {
    await turns(MANY_TURNS);
    let size = 0;
    for (;;) {
      const piece = await soon(body.read(), "the next piece");
      if (piece === undefined) break;
      size += piece.length;
    }
    assert.equal(size, SIZE);
  }));
