import assert from "node:assert/strict";
import { KEPT_BYTES, ResentBody } from "./resent_body.ts";

const PIECE = new Uint8Array(KEPT_BYTES / 4).fill(1);

async function* source(
  pieces: number,
): AsyncGenerator<readonly Uint8Array[], void> {
  for (let at = 0; at < pieces; at++) yield [PIECE];
}

function resent(pieces: number): ResentBody<Uint8Array> {
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
  const body = resent(3);
  assert.equal(await sizeOf(body), KEPT_BYTES);
  assert.ok(body.canRepeat);
  assert.equal(await sizeOf(body), KEPT_BYTES);
});

Deno.test("a longer body is sent once", async () => {
  const body = resent(4);
  assert.equal(await sizeOf(body), KEPT_BYTES + PIECE.length);
  assert.ok(!body.canRepeat);
  await assert.rejects(sizeOf(body), /cannot be sent again/);
});

Deno.test("nothing is kept once the reply has begun", async () => {
  const body = resent(1);
  body.release();
  await sizeOf(body);
  assert.ok(!body.canRepeat);
});

Deno.test("two receivers share what is read", async () => {
  const body = resent(2);
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
