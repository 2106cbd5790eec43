import assert from "node:assert/strict";
import { openPostgresPool } from "./postgres_pool.ts";

/** A server that closes every connection at once, and counts them. */
function closingServer(): {
  readonly port: number;
  attempts(): number;
  close(): Promise<void>;
} {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let attempts = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      attempts++;
      connection.close();
    }
  })();
  return {
    port: listener.addr.port,
    attempts: () => attempts,
    async close() {
      listener.close();
      await accepting;
    },
  };
}

Deno.test("while the server is away, most calls are refused without a connection attempt", async () => {
  const server = closingServer();
  const pool = openPostgresPool({
    host: "127.0.0.1",
    port: server.port,
    user: "user",
    ssl: false,
    allowsPlaintext: false,
    prepare: true,
  }, 5000);
  const calls = Array.from({ length: 1000 }, () =>
    assert.rejects(
      pool.lend((query) => query("SELECT 1")),
      /^Error: could not reach the store: /,
    ));
  await Promise.all(calls);
  assert.ok(server.attempts() >= 1);
  assert.ok(server.attempts() < 50, `${server.attempts()} connections`);
  await pool.close();
  await server.close();
});

Deno.test("a server that does not answer is given up at the deadline", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const pool = openPostgresPool({
    host: "127.0.0.1",
    port: listener.addr.port,
    user: "user",
    ssl: false,
    allowsPlaintext: false,
    prepare: true,
  }, 100);
  await assert.rejects(
    pool.lend((query) => query("SELECT 1")),
    /^Error: could not reach the store: /,
  );
  await pool.close();
  (await accepted).close();
  listener.close();
});
