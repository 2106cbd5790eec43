import assert from "node:assert/strict";
import { gatewayTimers } from "../../timers.ts";
import { upstreamClient } from "./http_client.ts";
import { KEPT_BYTES, ResentBody } from "./resent_body.ts";

const PIECE = new Uint8Array(KEPT_BYTES / 4).fill(1);

async function* source(
  pieces: number,
): AsyncGenerator<readonly Uint8Array[], void> {
  for (let at = 0; at < pieces; at++) yield [PIECE];
}

function bodyOf(pieces: number): ResentBody<Uint8Array> {
  return new ResentBody([PIECE], source(pieces), (piece) => piece.length);
}

async function sizeOf(body: ResentBody<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of body.as((one) => one, undefined)) {
    size += piece.length;
  }
  return size;
}

Deno.test("a body is sent again while all of it is kept", async () => {
  const body = bodyOf(3);
  assert.equal(await sizeOf(body), KEPT_BYTES);
  assert.ok(body.canRepeat);
  assert.equal(await sizeOf(body), KEPT_BYTES);
});

Deno.test("a longer body is sent once", async () => {
  const body = bodyOf(4);
  assert.equal(await sizeOf(body), KEPT_BYTES + PIECE.length);
  assert.ok(!body.canRepeat);
  await assert.rejects(sizeOf(body), /cannot be sent again/);
});

Deno.test("nothing is kept once the reply has begun", async () => {
  const body = bodyOf(1);
  body.release();
  await sizeOf(body);
  assert.ok(!body.canRepeat);
});

Deno.test("two receivers share what is read", async () => {
  const body = bodyOf(2);
  const [one, other] = await Promise.all([sizeOf(body), sizeOf(body)]);
  assert.equal(one, 3 * PIECE.length);
  assert.equal(other, one);
});

Deno.test("close() ends the source", async () => {
  let closed = false;
  const body = new ResentBody<Uint8Array>([], {
    next: () => Promise.resolve({ done: false, value: [PIECE] }),
    return() {
      closed = true;
      return Promise.resolve({ done: true, value: undefined });
    },
  }, (piece) => piece.length);
  await body.close();
  assert.ok(closed);
  assert.equal(await sizeOf(body), 0);
});

Deno.test("a slow upstream slows the body: what was read of it and not sent is bounded", async () => {
  const piece = new Uint8Array(64 * 1024).fill(1);
  const pieces = 1_024;
  let read = 0;
  async function* long(): AsyncGenerator<readonly Uint8Array[], void> {
    for (let at = 0; at < pieces; at++) {
      read += piece.length;
      yield [piece];
    }
  }
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let received = 0;
  let mostWaiting = 0;
  const serving = (async () => {
    using connection = await listener.accept();
    const buffer = new Uint8Array(64 * 1024);
    while (received < pieces * piece.length) {
      received += await connection.read(buffer) ?? Infinity;
      mostWaiting = Math.max(mostWaiting, read - received);
    }
    await connection.write(
      new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"),
    );
  })();
  const client = upstreamClient({
    connectTimeoutMs: 10_000,
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 10_000,
  }, gatewayTimers());
  const body = new ResentBody([], long(), (one: Uint8Array) => one.length);
  const { status } = await client.call({
    url: `http://127.0.0.1:${listener.addr.port}/`,
    headers: {},
    body: body.as((one) => one, pieces * piece.length),
    signal: new AbortController().signal,
  });
  assert.equal(status, 204);
  await serving;
  listener.close();
  await client.close();
  // What the system's socket buffers hold, plus 256 KiB.
  assert.ok(mostWaiting < 32 * 1024 * 1024, String(mostWaiting));
});
