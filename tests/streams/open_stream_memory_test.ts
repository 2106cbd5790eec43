/** An open stream does not keep its request: prompts are large, and streams are long. */
import assert from "node:assert/strict";
import { gatewayTimers } from "../../gateway/timers.ts";
import { upstreamClient } from "../../gateway/upstream/http/http_client.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

const PROGRAM = new URL(
  "../support/programs/held_body_program.ts",
  import.meta.url,
);

Deno.test("the body of a request can be collected once its reply has begun", async () => {
  const open: ReadableStreamDefaultController<Uint8Array>[] = [];
  await using upstream = serveLoopback(async (request) => {
    await request.arrayBuffer();
    return new Response(
      new ReadableStream({
        start(controller) {
          open.push(controller);
          controller.enqueue(new Uint8Array(1));
        },
      }),
    );
  });
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--no-check",
      "--v8-flags=--expose-gc",
      `--lock=${new URL("../../deno.lock", import.meta.url).pathname}`,
      PROGRAM.pathname,
      `http://127.0.0.1:${upstream.addr.port}/`,
    ],
    stderr: "inherit",
  }).output();
  assert.ok(success);
  assert.equal(new TextDecoder().decode(stdout), "collected\n");
  assert.equal(open.length, 1);
});

Deno.test("bodies of all sizes arrive whole and with their length", async () => {
  const seen: unknown[] = [];
  await using upstream = serveLoopback(async (request) => {
    const length = request.headers.get("content-length");
    const text = await request.text();
    const [first = ""] = text;
    seen.push([length, text === first.repeat(text.length), first]);
    return new Response("{}");
  });
  const limit = 60_000;
  const client = upstreamClient({
    connectTimeoutMs: limit,
    firstByteTimeoutMs: limit,
    idleTimeoutMs: limit,
  }, gatewayTimers());
  const sizes = [1, 16 * 1024 - 1, 16 * 1024, 3_000_000];
  try {
    for (const [at, size] of sizes.entries()) {
      const { body } = await client.call({
        url: `http://127.0.0.1:${upstream.addr.port}/`,
        headers: {},
        body: new Uint8Array(size).fill(97 + at),
        signal: new AbortController().signal,
      });
      while (await body.read() !== undefined);
    }
  } finally {
    await client.close();
  }
  assert.deepEqual(
    seen,
    sizes.map((size, at) => [String(size), true, "abcd"[at]]),
  );
});
