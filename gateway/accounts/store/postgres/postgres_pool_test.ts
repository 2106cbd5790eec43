import assert from "node:assert/strict";
import { createServer, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { mock } from "node:test";
import {
  AUTHORITY_FILE,
  certificate,
} from "../../../../tests/support/upstreams/fault_upstream.ts";
import { CertificateEnds } from "../../../certificate_ends.ts";
import { openPostgresPool, type PostgresPool } from "./postgres_pool.ts";

function openPool(port: number, deadlineMs: number): PostgresPool {
  return openPostgresPool(
    {
      host: "127.0.0.1",
      port,
      user: "user",
      ssl: false,
      allowsPlaintext: false,
      prepare: true,
    },
    deadlineMs,
    4,
  );
}

Deno.test("while the server is away, most calls are refused without a connection attempt", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let attempts = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      attempts++;
      connection.close();
    }
  })();
  const pool = openPool(listener.addr.port, 5000);
  const calls = Array.from({ length: 1000 }, () =>
    assert.rejects(
      pool.lend((query) => query("SELECT 1")),
      /^Error: could not reach the store: /,
    ));
  await Promise.all(calls);
  assert.ok(attempts >= 1);
  assert.ok(attempts < 50, `${attempts} connections`);
  await pool.close();
  listener.close();
  await accepting;
});

Deno.test("a server that does not answer is given up at the deadline", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const pool = openPool(listener.addr.port, 100);
  await assert.rejects(
    pool.lend((query) => query("SELECT 1")),
    /^Error: could not reach the store: /,
  );
  await pool.close();
  (await accepted).close();
  listener.close();
});

/** Accepts a connection and answers its startup message: AuthenticationOk, ReadyForQuery. */
async function acceptStart(listener: Deno.Listener): Promise<Deno.Conn> {
  const conn = await listener.accept();
  await conn.read(new Uint8Array(1024));
  await conn.write(
    Uint8Array.of(82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73),
  );
  return conn;
}

Deno.test("statements that are started in one turn are sent with one write", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = acceptStart(listener);
  const pool = openPool(listener.addr.port, 20_000);
  await pool.lend(() => accepted);
  // The platform's socket has the method that a stream may have.
  const socket = Socket.prototype as Required<
    Pick<Socket, "_write" | "_writev">
  >;
  const write = mock.method(socket, "_write");
  const writev = mock.method(socket, "_writev");
  const lent = pool.lend((query) =>
    Promise.all(["BEGIN", "SELECT 1", "COMMIT"].map((text) => query(text)))
  );
  const conn = await accepted;
  await conn.read(new Uint8Array(1024));
  mock.restoreAll();
  assert.deepEqual(
    [write.mock.callCount(), writev.mock.callCount()],
    [0, 1],
  );
  conn.close();
  await assert.rejects(lent);
  await pool.close();
  listener.close();
});

Deno.test("close() waits until the server has closed the connections", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = acceptStart(listener);
  const pool = openPool(listener.addr.port, 20_000);
  const lent = pool.lend(() => Promise.resolve());
  const conn = await accepted;
  const buffer = new Uint8Array(1024);
  await lent;

  const order: string[] = [];
  const closed = pool.close().then(() => order.push("pool"));
  // Terminate, and the end of what the client sends.
  const sent = buffer.subarray(0, await conn.read(buffer) ?? 0);
  assert.deepEqual(sent, Uint8Array.of(88, 0, 0, 0, 4));
  await new Promise((resolve) => setTimeout(resolve));
  order.push("server");
  conn.close();
  await closed;
  assert.deepEqual(order, ["server", "pool"]);
  listener.close();
});

Deno.test("with channel_binding=require a server that asks for no bound login receives no statement", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = acceptStart(listener);
  const pool = openPostgresPool(
    {
      host: "127.0.0.1",
      port: listener.addr.port,
      user: "user",
      ssl: false,
      allowsPlaintext: false,
      channelBinding: "require",
      prepare: true,
    },
    5000,
    1,
  );
  await assert.rejects(
    pool.lend((query) => query("SELECT 1")),
    /channel_binding=require/,
  );
  const conn = await accepted;
  assert.equal(await conn.read(new Uint8Array(1024)), null);
  conn.close();
  await pool.close();
  listener.close();
});

Deno.test("the end of the server's certificate is noted", async () => {
  const server = createServer((socket) => {
    socket.once("data", () => {
      // The server agrees to TLS: PostgreSQL, protocol message formats, SSLRequest.
      socket.write("S");
      const secure = new TLSSocket(socket, {
        isServer: true,
        ...certificate("right"),
      });
      secure.once(
        "data",
        () =>
          secure.write(
            Uint8Array.of(82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73),
          ),
      );
      secure.on("error", () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const ends = new CertificateEnds();
  const pool = openPostgresPool(
    {
      host: "127.0.0.1",
      port: address.port,
      user: "user",
      ssl: { ca: Deno.readTextFileSync(AUTHORITY_FILE) },
      allowsPlaintext: false,
      prepare: true,
    },
    5000,
    1,
    ends,
  );
  await pool.lend(() => Promise.resolve());
  assert.deepEqual([...ends.all()], [
    [`127.0.0.1:${address.port}`, Date.parse("2125-12-31")],
  ]);
  await pool.close();
  await new Promise((resolve) => server.close(resolve));
});
