import assert from "node:assert/strict";
import { toResponse } from "./http_reply.ts";

/** The pieces of a body as the platform reads them. */
async function piecesOf(
  body: ReadableStream<Uint8Array> | null,
): Promise<readonly number[]> {
  const lengths: number[] = [];
  for await (const piece of body ?? []) lengths.push(piece.length);
  return lengths;
}

Deno.test("a long body is sent in pieces, with its length", async () => {
  const bytes = new Uint8Array(5 * 1024 * 1024 + 7).map((_, at) => at % 251);
  const make = (): Response =>
    toResponse({ status: 200, headers: { "x-a": "b" }, body: bytes });
  const lengths = await piecesOf(make().body);
  assert.equal(lengths.length, 6);
  assert.ok(Math.max(...lengths) <= 1024 * 1024);
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    make,
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const response = await fetch(url);
  assert.equal(response.headers.get("content-length"), String(bytes.length));
  assert.equal(response.headers.get("x-a"), "b");
  assert.deepEqual(await response.bytes(), bytes);
  // A client that leaves after the first bytes ends nothing else.
  const left = await fetch(url);
  await left.body?.cancel();
  assert.equal((await (await fetch(url)).bytes()).length, bytes.length);
});

Deno.test("a short body is sent at once", async () => {
  const reply = { status: 200, headers: {}, body: new Uint8Array(1024 * 1024) };
  const response = toResponse(reply);
  assert.equal(response.headers.get("content-length"), null);
  assert.equal((await response.bytes()).length, 1024 * 1024);
});
