/** Connections to upstreams: addresses, certificates, deadlines, idle connections. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import {
  AUTHORITY_FILE,
  certificate,
} from "../../../tests/support/upstreams/fault_upstream.ts";
import { PROGRAM_ENV } from "../../../tests/support/programs/program_env.ts";
import { withTimeout } from "../../../tests/support/with_timeout.ts";
import type { Conn } from "./conn.ts";
import { dialer, type DialTarget, type Resolve } from "./dial.ts";

const dial = (target: DialTarget, resolve?: Resolve): Promise<Conn> =>
  dialer(resolve === undefined ? {} : { resolve })(target);

const LOCAL = { hostname: "127.0.0.1", port: 0 } as const;

function target(
  port: number,
  differing: Partial<DialTarget> = {},
): DialTarget {
  return {
    hostname: "127.0.0.1",
    port,
    isTls: false,
    signal: new AbortController().signal,
    ...differing,
  };
}

const resolvesTo = (...addresses: readonly string[]): Resolve => () =>
  Promise.resolve(addresses.map((address) => ({ address })));

/** Accepts one connection, closes it, and returns the local address that it was made to. */
function accepted(listener: Deno.TcpListener): Promise<string> {
  return listener.accept().then((conn) => {
    const { hostname } = conn.localAddr;
    conn.close();
    return hostname;
  });
}

/** A port at which a connection attempt hangs: the system's backlog is full. */
async function silentPort(): Promise<{ port: number } & Disposable> {
  const listener = Deno.listen({ ...LOCAL, tcpBacklog: 1 });
  const { port } = listener.addr;
  const connections: Deno.Conn[] = [];
  for (;;) {
    const attempt = new AbortController();
    const timer = setTimeout(() => attempt.abort(), 500);
    try {
      connections.push(
        await Deno.connect({ ...LOCAL, port, signal: attempt.signal }),
      );
    } catch {
      break;
    } finally {
      clearTimeout(timer);
    }
  }
  return {
    port,
    [Symbol.dispose]() {
      for (const one of [listener, ...connections]) one.close();
    },
  };
}

Deno.test("dial() connects to no link-local address, whatever leads there", async () => {
  const refused = { code: "ELINKLOCAL" };
  const named = target(80, { hostname: "metadata.google.internal" });
  await assert.rejects(
    dial(named, resolvesTo("169.254.169.254", "64:ff9b::a9fe:a9fe")),
    refused,
  );
  for (const hostname of ["169.254.169.254", "::ffff:169.254.169.254"]) {
    await assert.rejects(dial(target(80, { hostname })), refused);
  }
});

Deno.test("dial() passes over the link-local addresses of a name", async () => {
  using listener = Deno.listen(LOCAL);
  const arrival = accepted(listener);
  const { port } = listener.addr;
  const conn = await dial(
    target(port, { hostname: "upstream.test" }),
    resolvesTo("fe80::1", "169.254.169.254", "127.0.0.1"),
  );
  conn.close();
  assert.equal(await arrival, "127.0.0.1");
});

Deno.test("dial() opens a connection to an IPv6 address", async () => {
  using listener = Deno.listen({ hostname: "::1", port: 0 });
  const arrival = accepted(listener);
  const conn = await dial(target(listener.addr.port, { hostname: "::1" }));
  conn.close();
  assert.equal(await arrival, "::1");
});

Deno.test("dial() tries the next address of a name if one refuses", async () => {
  using listener = Deno.listen(LOCAL);
  const arrival = accepted(listener);
  const conn = await dial(
    target(listener.addr.port, { hostname: "upstream.test" }),
    resolvesTo("127.0.0.2", "::1", "127.0.0.1"),
  );
  conn.close();
  assert.equal(await arrival, "127.0.0.1");
});

Deno.test("dial() tries the next address of a name if one does not answer", async () => {
  using silent = await silentPort();
  // The same port at another address of this machine.
  using listener = Deno.listen({ hostname: "127.0.0.2", port: silent.port });
  const arrival = accepted(listener);
  const conn = await dial(
    target(silent.port, { hostname: "upstream.test" }),
    resolvesTo("127.0.0.1", "127.0.0.2"),
  );
  conn.close();
  assert.equal(await arrival, "127.0.0.2");
});

Deno.test("dial() throws the first failure if every address of a name fails", async () => {
  const closed = Deno.listen(LOCAL);
  const { port } = closed.addr;
  closed.close();
  await assert.rejects(
    dial(
      target(port, { hostname: "upstream.test" }),
      resolvesTo("127.0.0.1", "::1"),
    ),
    Deno.errors.ConnectionRefused,
  );
});

Deno.test("dial() throws the resolver's failure", async () => {
  await assert.rejects(
    dial(target(1, { hostname: "no-such-host.invalid" })),
    (error: { code?: string }) =>
      ["ENOTFOUND", "EAI_AGAIN"].includes(error.code ?? ""),
  );
});

Deno.test("dial() ends with its signal in every phase", async (t) => {
  const aborted = new Error("aborted");
  const ends = async (
    started: (signal: AbortSignal) => Promise<unknown>,
    until: Promise<unknown>,
  ): Promise<void> => {
    const attempt = new AbortController();
    const ended = assert.rejects(started(attempt.signal), aborted);
    await until;
    attempt.abort(aborted);
    await withTimeout(ended, "the end of the attempt");
  };
  await t.step("before it begins", () =>
    assert.rejects(
      dial(target(1, { signal: AbortSignal.abort(aborted) })),
      aborted,
    ));
  await t.step("while the name is resolved", async () => {
    const never = Promise.withResolvers<readonly { address: string }[]>();
    await ends(
      (signal) =>
        dial(
          target(1, { hostname: "upstream.test", signal }),
          () => never.promise,
        ),
      Promise.resolve(),
    );
    never.resolve([]);
  });
  await t.step("while the upstream does not answer", async () => {
    using silent = await silentPort();
    await ends(
      (signal) => dial(target(silent.port, { signal })),
      Promise.resolve(),
    );
  });
  await t.step("in the handshake", async () => {
    using listener = Deno.listen(LOCAL);
    const arrival = listener.accept();
    const attempt = new AbortController();
    const { signal } = attempt;
    const ended = assert.rejects(
      dial(target(listener.addr.port, { isTls: true, signal })),
      aborted,
    );
    const conn = await arrival;
    assert.notEqual(await conn.read(new Uint8Array(4096)), null);
    attempt.abort(aborted);
    await withTimeout(ended, "the end of the attempt");
    conn.close();
  });
});

/**
 * Dials a TLS listener from a child process, because only a process's start can set its certificate
 * authorities; returns the child's output.
 */
async function dialInChild(
  name: Parameters<typeof certificate>[0],
  hostname: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const at = hostname === "::1" ? "::1" : "127.0.0.1";
  using listener = Deno.listenTls({
    hostname: at,
    port: 0,
    ...certificate(name),
    alpnProtocols: ["http/1.1"],
  });
  const served = listener.accept().then(async (conn) => {
    try {
      await conn.handshake();
      await conn.read(new Uint8Array(1));
    } catch {
      // Refused by the client.
    } finally {
      conn.close();
    }
  }, () => {});
  const script = `
    const { dialer } = await import(${
    JSON.stringify(new URL("dial.ts", import.meta.url).href)
  });
    try {
      const dial = dialer({ resolve: async () => [{ address: ${
    JSON.stringify(at)
  } }] });
      const conn = await dial({
        hostname: ${JSON.stringify(hostname)}, port: ${listener.addr.port},
        isTls: true, signal: new AbortController().signal,
      });
      const { alpnProtocol } = await conn.handshake();
      await conn.write(new Uint8Array(1));
      console.log("open", alpnProtocol);
      conn.close();
    } catch (error) {
      console.log("refused:", error.message);
    }`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    clearEnv: true,
    env: { ...PROGRAM_ENV, ...env },
    stderr: "inherit",
  }).output();
  await served;
  return new TextDecoder().decode(stdout);
}

const TRUSTING = { DENO_CERT: AUTHORITY_FILE };

Deno.test("dial() over TLS checks the certificate", async (t) => {
  for (
    const [what, name, hostname, env, output] of [
      ["right", "right", "localhost", TRUSTING, /^open http\/1.1/],
      [
        "right, the name resolved to an address",
        "right",
        "upstream.test",
        TRUSTING,
        /^open http\/1.1/,
      ],
      ["right, for an address", "right", "127.0.0.1", TRUSTING, /^open /],
      ["right, for an IPv6 address", "right", "::1", TRUSTING, /^open /],
      ["for another name", "wrong_name", "localhost", TRUSTING, /^refused: /],
      ["expired", "expired", "localhost", TRUSTING, /^refused: .*expired/],
      [
        "of an unknown authority",
        "unknown",
        "localhost",
        TRUSTING,
        /^refused: .*UnknownIssuer/,
      ],
      [
        "of an authority that is not configured",
        "right",
        "localhost",
        {},
        /^refused: .*UnknownIssuer/,
      ],
      [
        "of an authority in the system's store",
        "right",
        "localhost",
        { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: AUTHORITY_FILE },
        /^open /,
      ],
      [
        "of an authority only in the store that is not used",
        "right",
        "localhost",
        { DENO_TLS_CA_STORE: "mozilla", SSL_CERT_FILE: AUTHORITY_FILE },
        /^refused: .*UnknownIssuer/,
      ],
    ] as const
  ) {
    await t.step(what, async () => {
      assert.match(await dialInChild(name, hostname, env), output);
    });
  }
});

Deno.test("dial() over TLS sends the host name to the upstream", async () => {
  using listener = Deno.listen(LOCAL);
  const attempt = new AbortController();
  const dialled = assert.rejects(
    dial(
      target(listener.addr.port, {
        hostname: "upstream.test",
        isTls: true,
        signal: attempt.signal,
      }),
      resolvesTo("127.0.0.1"),
    ),
  );
  const conn = await listener.accept();
  const buffer = new Uint8Array(4096);
  const size = await conn.read(buffer) ?? 0;
  const hello = new TextDecoder("latin1").decode(buffer.subarray(0, size));
  assert.match(hello, /upstream\.test/);
  attempt.abort();
  await dialled;
  conn.close();
});

Deno.test("dial() works with a permission for one port of a name", async () => {
  using listener = Deno.listen(LOCAL);
  const { port } = listener.addr;
  const arrival = accepted(listener);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      `--allow-net=localhost:${port}`,
      `data:application/typescript,${
        encodeURIComponent(`
        import { dialer } from ${
          JSON.stringify(new URL("dial.ts", import.meta.url).href)
        };
        const { signal } = new AbortController();
        const conn = await dialer()({ hostname: "localhost", port: ${port}, isTls: false, signal });
        console.log("open");
        conn.close();`)
      }`,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(new TextDecoder().decode(stdout), "open\n");
  await arrival;
});

Deno.test("an aborted dial() closes only its own connection", async () => {
  using silent = await silentPort();
  using listener = Deno.listen(LOCAL);
  const accepting = (async () => {
    for await (const conn of listener) conn.close();
  })();
  const aborted = new Error("aborted");
  for (let n = 0; n < 50; n++) {
    // One attempt that is aborted, and one that has connected before its signal is aborted.
    const attempt = new AbortController();
    const { signal } = attempt;
    const ended = assert.rejects(
      dial(target(silent.port, { signal })),
      aborted,
    );
    const { port } = listener.addr;
    (await dial(target(port, { signal }))).close();
    attempt.abort(aborted);
    await ended;
    const bystander = await Deno.connect({ ...LOCAL, port });
    assert.equal(await bystander.read(new Uint8Array(1)), null);
    bystander.close();
  }
  listener.close();
  await accepting;
});

Deno.test("dial() that is aborted at any moment leaves no connection open", async () => {
  const listener = Deno.listen({ ...LOCAL, tcpBacklog: 512 });
  const { port } = listener.addr;
  const ended: Promise<unknown>[] = [];
  const accepting = (async () => {
    for await (const conn of listener) {
      const end = conn.read(new Uint8Array(1)).catch(() => {});
      ended.push(end.finally(() => conn.close()));
    }
  })();
  const lane = async (): Promise<void> => {
    for (let n = 0; n < 1_000; n++) {
      const attempt = new AbortController();
      const dialled = dial(target(port, { signal: attempt.signal }));
      if (n % 3 === 0) queueMicrotask(() => attempt.abort());
      else if (n % 3 === 1) setImmediate(() => attempt.abort());
      else setTimeout(() => attempt.abort(), 0);
      await dialled.then((conn) => conn.close(), () => {});
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  // Accepted last, so that all others have been accepted.
  (await dial(target(port))).close();
  await withTimeout(Promise.all(ended), "the end of every connection");
  listener.close();
  await accepting;
  await Promise.all(ended);
});
