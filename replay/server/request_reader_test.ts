import assert from "node:assert/strict";
import { BadRequest, RequestReader } from "./request_reader.ts";

const encoder = new TextEncoder();

function readAll(pieces: readonly Uint8Array[]): string[] {
  const reader = new RequestReader(1000);
  const seen: string[] = [];
  const next = (): boolean => {
    const received = reader.next(() => {});
    if (received === undefined) return false;
    const { method, path, body } = received.request;
    seen.push(`${method} ${path} ${body}`);
    return true;
  };
  for (const piece of pieces) {
    reader.push(piece);
    while (next());
  }
  assert.equal(reader.begun, false);
  return seen;
}

const WIRE = encoder.encode(
  "POST /a HTTP/1.1\r\nContent-Length: 6\r\n\r\nhä\u00dfe" +
    "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nab\r\r\n2\r\n\n0\r\n0\r\nTrailer: x\r\n\r\n" +
    "\r\nGET /c HTTP/1.1\r\n\r\n" +
    "POST /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n",
);

const EXPECTED = ["POST /a häße", "POST /b ab\r\n0", "GET /c ", "POST /d z"];

Deno.test("RequestReader reads requests that arrive in one piece", () => {
  assert.deepEqual(readAll([WIRE]), EXPECTED);
});

Deno.test("RequestReader reads the same requests wherever the bytes are cut", () => {
  for (let cut = 0; cut <= WIRE.length; cut++) {
    assert.deepEqual(
      readAll([WIRE.subarray(0, cut), WIRE.subarray(cut)]),
      EXPECTED,
      `cut at ${cut}`,
    );
  }
});

Deno.test("RequestReader reads requests that arrive byte by byte", () => {
  assert.deepEqual(
    readAll([...WIRE].map((byte) => Uint8Array.of(byte))),
    EXPECTED,
  );
});

Deno.test("RequestReader refuses a chunked body beyond its limit", () => {
  const reader = new RequestReader(4);
  reader.push(
    encoder.encode(
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
    ),
  );
  assert.throws(() => reader.next(() => {}), BadRequest);
});

Deno.test("RequestReader joins repeated headers and lower-cases names", () => {
  const reader = new RequestReader(4);
  reader.push(encoder.encode("GET / HTTP/1.1\r\nX-A: 1\r\nx-a:  2 \r\n\r\n"));
  assert.deepEqual(reader.next(() => {})?.request.headers, { "x-a": "1, 2" });
});
