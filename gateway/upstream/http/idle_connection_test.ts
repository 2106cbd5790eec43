/**
 * The upstream closes idle connections while the gateway's event loop is blocked; then calls are
 * made in the same turn, before the gateway can have noticed. The client runs in a child process:
 * only a process's start can set its certificate authorities.
 */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import {
  CAN_RESET,
  certificate,
} from "../../../tests/support/upstreams/fault_upstream.ts";
import { TRUSTING_ENV } from "../../../tests/support/programs/program_env.ts";
import { withTimeout } from "../../../tests/support/with_timeout.ts";

const LOCAL = { hostname: "127.0.0.1", port: 0 } as const;
const CALLS = 8;
const REPLY = new TextEncoder().encode(
  "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
);

/** An upstream that replies to each request. */
interface Upstream extends AsyncDisposable {
  readonly port: number;
  /** Closes the idle connections; resolves once the end has been sent to the client. */
  close(): Promise<void>;
}

/** A connection at the upstream. */
interface Served {
  /** The connection of the HTTP exchange. */
  readonly conn: Deno.Conn;
  /** The TCP connection with the client; over TLS it is tunnelled to `conn`. */
  readonly tcp: Deno.Conn;
  /** Settles once the end of `conn` has reached the client. */
  readonly forwarded: Promise<void>;
}

/** Ways to close an idle connection. */
const CLOSES = {
  "its own side": async ({ conn, forwarded }: Served) => {
    await conn.closeWrite();
    await forwarded;
  },
  "wholly": async ({ conn, tcp, forwarded }: Served) => {
    await conn.closeWrite();
    await forwarded;
    tcp.close();
  },
  "without a TLS alert": ({ tcp }: Served) => tcp.closeWrite(),
} as const;

async function serve(conn: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(4096);
  let text = "";
  for (;;) {
    const size = await conn.read(buffer);
    if (size === null) return;
    text += new TextDecoder().decode(buffer.subarray(0, size));
    if (!text.endsWith("\r\n\r\nbody")) continue;
    text = "";
    await conn.write(REPLY);
  }
}

async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(16 * 1024);
  for (;;) {
    const size = await from.read(buffer);
    if (size === null) return;
    let rest = buffer.subarray(0, size);
    while (rest.length > 0) rest = rest.subarray(await to.write(rest));
  }
}

function closeQuietly(closable: { close(): void }): void {
  try {
    closable.close();
  } catch {
    // Already closed.
  }
}

function closingUpstream(
  over: "plain" | "TLS",
  close: (served: Served) => Promise<void>,
): Upstream {
  const front = Deno.listen(LOCAL);
  const inner = Deno.listenTls({
    ...LOCAL,
    ...certificate("right"),
    alpnProtocols: ["http/1.1"],
  });
  const open: Deno.Conn[] = [];
  const idle: Served[] = [];
  const running = new Set<Promise<void>>();
  const run = (task: Promise<void>): void => {
    const settled = task.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
  };
  run((async () => {
    for await (const tcp of front) {
      let conn: Deno.Conn = tcp;
      let forwarded = Promise.resolve();
      open.push(tcp);
      if (over === "TLS") {
        const { port } = inner.addr;
        const tunnel = await Deno.connect({ hostname: "127.0.0.1", port });
        conn = await inner.accept();
        open.push(tunnel, conn);
        run(copy(tcp, tunnel).finally(() => closeQuietly(tunnel)));
        forwarded = copy(tunnel, tcp).then(() => tcp.closeWrite());
        run(forwarded);
      }
      idle.push({ conn, tcp, forwarded });
      run(serve(conn));
    }
  })());
  return {
    port: front.addr.port,
    async close() {
      await Promise.all(idle.splice(0).map(close));
    },
    async [Symbol.asyncDispose]() {
      for (const one of [front, inner, ...open]) closeQuietly(one);
      await Promise.all(running);
    },
  };
}

/** Its connections are closed by a reset, which Deno's own connections cannot send. */
async function resettingUpstream(): Promise<Upstream> {
  const idle: Socket[] = [];
  const server = createServer((socket) => {
    idle.push(socket);
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (!text.endsWith("\r\n\r\nbody")) return;
      text = "";
      socket.write(REPLY);
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve())
  );
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const closeAll = async (): Promise<void> => {
    await Promise.all(
      idle.splice(0).map((socket) => {
        if (socket.closed) return;
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.resetAndDestroy();
        return closed;
      }),
    );
  };
  return {
    port: address.port,
    close: closeAll,
    async [Symbol.asyncDispose]() {
      await closeAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Makes calls, closes their idle connections and returns the outcomes of further calls. */
async function outcomesAfterClose(
  scheme: "http" | "https",
  upstream: Upstream,
): Promise<readonly string[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--no-prompt",
      "--allow-all",
      `--config=${new URL("../../../deno.json", import.meta.url).pathname}`,
      `--lock=${new URL("../../../deno.lock", import.meta.url).pathname}`,
      new URL(
        "../../../tests/support/programs/calling_program.ts",
        import.meta.url,
      )
        .href,
      `${scheme}://localhost:${upstream.port}/`,
      String(CALLS),
    ],
    clearEnv: true,
    env: TRUSTING_ENV,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const input = child.stdin.getWriter();
  try {
    let text = "";
    const line = async (): Promise<string> => {
      while (!text.includes("\n")) {
        const { value } = await output.read();
        if (value === undefined) throw new Error("the client has ended");
        text += value;
      }
      const end = text.indexOf("\n");
      const first = text.slice(0, end);
      text = text.slice(end + 1);
      return first;
    };
    assert.equal(await withTimeout(line(), "the first calls"), "idle");
    await upstream.close();
    await input.write(new TextEncoder().encode("go\n"));
    return JSON.parse(await withTimeout(line(), "the further calls"));
  } finally {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await child.status;
    await input.close().catch(() => {});
    await output.cancel();
  }
}

const ALL_RIGHT = Array.from({ length: CALLS }, () => "200");

for (const over of ["plain", "TLS"] as const) {
  for (const [how, close] of Object.entries(CLOSES)) {
    if (over === "plain" && how.includes("TLS")) continue;
    Deno.test(`a connection that the upstream has closed while idle (${over}, ${how}) gets no further call, even if the event loop was blocked`, async () => {
      await using upstream = closingUpstream(over, close);
      assert.deepEqual(
        await outcomesAfterClose(over === "TLS" ? "https" : "http", upstream),
        ALL_RIGHT,
      );
    });
  }
}

Deno.test({
  name:
    "a connection that the upstream has reset while idle gets no further call, even if the event loop was blocked",
  ignore: !CAN_RESET,
  async fn() {
    await using upstream = await resettingUpstream();
    assert.deepEqual(await outcomesAfterClose("http", upstream), ALL_RIGHT);
  },
});
