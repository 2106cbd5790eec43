/** Handshakes that are abandoned: how many stay open, and which attempts continue them. */
import assert from "node:assert/strict";
import { certificate } from "../../../tests/support/upstreams/fault_upstream.ts";
import { TRUSTING_ENV } from "../../../tests/support/programs/program_env.ts";
import { withTimeout } from "../../../tests/support/with_timeout.ts";
import { dialer } from "./dial.ts";
import { MAX_ABANDONED } from "./tls_handshakes.ts";

const LOCAL = { hostname: "127.0.0.1", port: 0 } as const;

Deno.test("attempts continue abandoned handshakes, and open a connection when one of them fails", async () => {
  const aborted = new Error("aborted");
  using listener = Deno.listen(LOCAL);
  const dial = dialer();
  const start = (): [AbortController, Promise<unknown>] => {
    const attempt = new AbortController();
    const { signal } = attempt;
    const { port } = listener.addr;
    return [
      attempt,
      dial({ ...LOCAL, port, isTls: true, signal }).catch((error) => error),
    ];
  };
  /** Accepts a connection and reads the first message of its handshake. */
  const accept = async (): Promise<Deno.Conn> => {
    const conn = await withTimeout(listener.accept(), "a connection");
    await conn.read(new Uint8Array(4096));
    return conn;
  };

  const conns: Deno.Conn[] = [];
  for (let n = 0; n < MAX_ABANDONED; n++) {
    const [attempt, ended] = start();
    conns.push(await accept());
    attempt.abort(aborted);
    assert.equal(await ended, aborted);
  }

  let opened = 0;
  const arrival = accept().then((conn) => {
    opened++;
    return conn;
  });
  const continuing = Array.from({ length: MAX_ABANDONED }, (_, n) => {
    const [attempt, ended] = start();
    if (n > 0) attempt.abort(aborted);
    return ended;
  });
  for (const ended of continuing.slice(1)) {
    assert.equal(await ended, aborted);
  }
  assert.equal(opened, 0);

  conns[0]?.close();
  const conn = await arrival;
  for (const one of [...conns.slice(1), conn]) one.close();
  assert.ok(await continuing[0] instanceof Error);
});

function moduleAt(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href);
}

/** Abandons handshakes with a server that is silent at first; prints the number of connections. */
const PROGRAM = `
  const { dialer } = await import(${moduleAt("dial.ts")});
  const { MAX_ABANDONED } = await import(${moduleAt("tls_handshakes.ts")});
  const { cert, key } = ${JSON.stringify(certificate("right"))};
  const server = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key });
  const front = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const released = Promise.withResolvers();
  let opened = 0;
  let onOpened = () => {};
  (async () => {
    for await (const conn of server) void conn.handshake().catch(() => {});
  })();
  (async () => {
    for await (const conn of front) {
      opened++;
      onOpened();
      released.promise.then(async () => {
        const back = await Deno.connect(server.addr);
        conn.readable.pipeTo(back.writable).catch(() => {});
        back.readable.pipeTo(conn.writable).catch(() => {});
      });
    }
  })();
  const dial = dialer({ resolve: async () => [{ address: "127.0.0.1" }] });
  const start = (signal) => dial({
    hostname: "localhost", port: front.addr.port, isTls: true, signal,
  });
  for (let n = 0; n < MAX_ABANDONED; n++) {
    const accepted = new Promise((resolve) => onOpened = resolve);
    const attempt = new AbortController();
    const ended = start(attempt.signal).catch(() => {});
    await accepted;
    // The handshake begins after the connection.
    await new Promise((resolve) => setTimeout(resolve));
    attempt.abort();
    await ended;
  }
  const conn = start(new AbortController().signal);
  released.resolve();
  await (await conn).handshake();
  console.log("open after", opened, "connections");
  Deno.exit(0);
`;

Deno.test("an attempt succeeds with the handshake that an aborted attempt began", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", PROGRAM],
    clearEnv: true,
    env: TRUSTING_ENV,
    stderr: "inherit",
  }).output();
  assert.equal(
    new TextDecoder().decode(stdout),
    `open after ${MAX_ABANDONED} connections\n`,
  );
});
