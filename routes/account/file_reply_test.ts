/** Replies with an export: their status, how far they read ahead, and when they stop. */
import assert from "node:assert/strict";
import { toResponse } from "../../gateway/http/http_reply.ts";
import { nextTurn } from "../../gateway/accounts/next_turn.ts";
import { fileReply } from "./file_reply.ts";
import { serveLoopback } from "../../tests/support/serve_loopback.ts";

/** Pieces without an end; `ended` resolves when they are no longer read. */
function endless(piece: string): {
  readonly text: AsyncGenerator<string, void, void>;
  readonly ended: Promise<void>;
  readonly made: () => number;
} {
  const ended = Promise.withResolvers<void>();
  let made = 0;
  async function* text(): AsyncGenerator<string, void, void> {
    try {
      yield "head\n";
      for (;;) {
        made++;
        yield piece;
        await nextTurn();
      }
    } finally {
      ended.resolve();
    }
  }
  return { text: text(), ended: ended.promise, made: () => made };
}

Deno.test("a first piece that fails is an error, before there is a status", async () => {
  async function* text(): AsyncGenerator<string, void, void> {
    yield await Promise.reject(new Error("no store"));
  }
  await assert.rejects(fileReply({}, text()), /no store/);
});

Deno.test("at most two pieces are read ahead of the client", async () => {
  const { text, ended, made } = endless("piece\n");
  const { body } = await fileReply({}, text);
  assert.ok(body instanceof ReadableStream);
  const reader = body.getReader();
  await reader.read();
  for (let read = 0; read < 100; read++) {
    await nextTurn();
    assert.ok(made() - read <= 2, `${made() - read} pieces are ahead`);
    await reader.read();
  }
  await reader.cancel();
  await ended;
});

for (
  const [name, piece] of [
    ["lines", `${"x".repeat(10_000)}\n`],
    ["no lines, as of a search that finds nothing", ""],
  ] as const
) {
  Deno.test(`an export is read no longer after its client has left: ${name}`, async () => {
    const { text, ended } = endless(piece);
    await using server = serveLoopback(async () =>
      toResponse(await fileReply({}, text))
    );
    const client = new AbortController();
    const reply = await fetch(`http://127.0.0.1:${server.addr.port}/`, {
      signal: client.signal,
    });
    const reader = reply.body?.getReader();
    await reader?.read();
    client.abort();
    await reader?.closed.catch(() => {});
    await ended;
  });
}
