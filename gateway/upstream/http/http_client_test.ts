import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers";
import { CAN_RESET } from "../../../tests/support/upstreams/fault_upstream.ts";
import { withTimeout } from "../../../tests/support/with_timeout.ts";
import { ApiError } from "../../../translate/model/error.ts";
import { gatewayTimers, type TimerId, type Timers } from "../../timers.ts";
import type { ByteSource } from "./byte_source.ts";
import { CHECK_AFTER_MS } from "./conn_socket.ts";
import { upstreamClient } from "./http_client.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";

const SIZE = 4 * 1024 * 1024;
/** Event loop turns: far more than the client needs to fill its queue and pause the upstream. */
const MANY_TURNS = 500;
/** Turns after which undici waits for none; on Deno 2.5 each is a timer, which must not leak. */
const LAST_TURNS = 5;

/** Runs with a large body that has not been read yet. */
async function withLargeBody(
  run: (body: ByteSource) => Promise<void>,
): Promise<void> {
  await using server = serveLoopback(() => new Response(new Uint8Array(SIZE)));
  const limits = { connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000 };
  const client = upstreamClient(
    { ...limits, idleTimeoutMs: 60_000 },
    gatewayTimers(),
  );
  try {
    const { body } = await client.call({
      url: `http://127.0.0.1:${server.addr.port}/`,
      headers: {},
      body: new Uint8Array(0),
      signal: new AbortController().signal,
    });
    await run(body);
  } finally {
    await client.close();
    await turns(LAST_TURNS);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

Deno.test("a body that paused because its queue was full flows to its end", () =>
  withLargeBody(async (body) => {
    await turns(MANY_TURNS);
    let size = 0;
    await withTimeout(
      new Promise<void>((resolve, reject) =>
        body.pushTo({
          onChunk: (bytes) => {
            size += bytes.length;
          },
          onEnd: resolve,
          onError: reject,
        })
      ),
      "the body's end",
    );
    assert.equal(size, SIZE);
  }));

for (const isFullFirst of [false, true]) {
  Deno.test(`a body that is paused before it flows continues when it is resumed${isFullFirst ? ", even if its queue was full" : ""}`, () =>
    withLargeBody(async (body) => {
      // The queue and the reader pause the upstream in either order.
      if (isFullFirst) await turns(MANY_TURNS);
      body.pause();
      await turns(MANY_TURNS);
      let size = 0;
      let resumed = false;
      let after = 0;
      const finished = new Promise<void>((resolve, reject) => {
        body.pushTo({
          onChunk: (bytes) => {
            size += bytes.length;
            if (resumed) after += bytes.length;
          },
          onEnd: resolve,
          onError: reject,
        });
        turns(MANY_TURNS).then(() => {
          resumed = true;
          body.resume();
        }, reject);
      });
      await withTimeout(finished, "the body's end");
      assert.equal(size, SIZE);
      assert.ok(after > SIZE / 2, "most of it comes after the pause");
    }));
}

Deno.test("a body that is read in chunks is complete", () =>
  withLargeBody(async (body) => {
    await turns(MANY_TURNS);
    let size = 0;
    for (;;) {
      const chunk = await withTimeout(body.read(), "the next chunk");
      if (chunk === undefined) break;
      size += chunk.length;
    }
    assert.equal(size, SIZE);
  }));

/**
 * An upstream on bare TCP: replies to each request on its connection with a fixed text, and closes
 * its connections on demand.
 */
async function withBareUpstream(
  firstReply: string,
  run: (upstream: {
    readonly url: string;
    /** The connection number of each request so far. */
    readonly seen: readonly number[];
    /** Closes every open connection, or only the upstream's side of it. */
    close(how: "both" | "half"): Promise<void>;
    /** Sets the reply to the next requests; undefined: their connection is closed. */
    setReply(reply: string | undefined): void;
  }, client: ReturnType<typeof upstreamClient>) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const seen: number[] = [];
  let reply: string | undefined = firstReply;
  const open = new Set<Deno.Conn>();
  let count = 0;
  const serve = async (conn: Deno.Conn, number: number): Promise<void> => {
    const buffer = new Uint8Array(4096);
    let text = "";
    for (;;) {
      const size = await conn.read(buffer);
      if (size === null) return;
      text += new TextDecoder().decode(buffer.subarray(0, size));
      if (!text.endsWith("\r\n\r\nbody")) continue;
      text = "";
      seen.push(number);
      if (reply === undefined) return;
      await conn.write(new TextEncoder().encode(reply));
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      serve(conn, ++count).catch(() => {}).finally(() => {
        if (open.delete(conn)) conn.close();
      });
    }
  })();
  const limits = { connectTimeoutMs: 20_000, firstByteTimeoutMs: 20_000 };
  const client = upstreamClient(
    { ...limits, idleTimeoutMs: 20_000 },
    gatewayTimers(),
  );
  try {
    await run({
      url: `http://127.0.0.1:${listener.addr.port}/`,
      seen,
      setReply(next) {
        reply = next;
      },
      async close(how) {
        for (const conn of [...open]) {
          if (how === "half") await conn.closeWrite();
          else {
            open.delete(conn);
            conn.close();
          }
        }
      },
    }, client);
  } finally {
    await client.close();
    await turns(LAST_TURNS);
    listener.close();
    await accepting;
    for (const conn of [...open]) if (open.delete(conn)) conn.close();
  }
}

async function callOnce(
  client: ReturnType<typeof upstreamClient>,
  url: string,
): Promise<number> {
  const { status, body } = await withTimeout(
    client.call({
      url,
      headers: {},
      body: new TextEncoder().encode("body"),
      signal: new AbortController().signal,
    }),
    "the reply's head",
  );
  while (await withTimeout(body.read(), "the reply's end") !== undefined);
  return status;
}

const REPLY = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const TIMES = 50;

Deno.test("consecutive calls share a connection", () =>
  withBareUpstream(REPLY, async ({ url, seen }, client) => {
    for (let n = 0; n < TIMES; n++) {
      await callOnce(client, url);
      // A connection is unavailable for one turn of the event loop after its reply.
      await turns(LAST_TURNS);
    }
    assert.deepEqual(seen, Array.from({ length: TIMES }, () => 1));
  }));

for (const how of ["both", "half"] as const) {
  Deno.test(`a connection that the upstream has closed while idle (${how === "both" ? "wholly" : "its own side"}) gets no further call`, () =>
    withBareUpstream(REPLY, async ({ url, seen, close }, client) => {
      for (let n = 0; n < TIMES; n++) {
        assert.equal(await callOnce(client, url), 200);
        // The next call follows in the same turn of the event loop in which the connection was
        // closed.
        await close(how);
      }
      assert.deepEqual(seen, Array.from({ length: TIMES }, (_, n) => n + 1));
    }));
}

for (const idleMs of [0, CHECK_AFTER_MS]) {
  Deno.test(`a request on a connection that was idle for ${idleMs} ms is not repeated if the connection fails`, () =>
    withBareUpstream(REPLY, async ({ url, seen, setReply }, client) => {
      await callOnce(client, url);
      await turns(LAST_TURNS);
      const endMs = performance.now() + idleMs;
      while (performance.now() < endMs) await turns(1);
      setReply(undefined);
      await assert.rejects(callOnce(client, url), {
        message: "the connection to the upstream broke",
      });
      assert.deepEqual(seen, [1, 1]);
    }));
}

Deno.test("a reply without a length ends with its connection", () =>
  withBareUpstream(
    "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it",
    async ({ url, close }, client) => {
      const { body } = await client.call({
        url,
        headers: {},
        body: new TextEncoder().encode("body"),
        signal: new AbortController().signal,
      });
      const first = await withTimeout(body.read(), "the reply");
      assert.equal(new TextDecoder().decode(first), "all of it");
      await close("half");
      assert.equal(await withTimeout(body.read(), "the end"), undefined);
    },
  ));

Deno.test({
  name: "a reply without a length is not complete if its connection is reset",
  ignore: !CAN_RESET,
  async fn() {
    const connected = Promise.withResolvers<Socket>();
    const server = createServer((socket) => {
      socket.once(
        "data",
        () => socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf"),
      );
      socket.on("error", () => {});
      connected.resolve(socket);
    });
    await new Promise<void>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve())
    );
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const limits = { connectTimeoutMs: 20_000, firstByteTimeoutMs: 20_000 };
    const client = upstreamClient(
      { ...limits, idleTimeoutMs: 20_000 },
      gatewayTimers(),
    );
    const { body } = await withTimeout(
      client.call({
        url: `http://127.0.0.1:${address.port}/`,
        headers: {},
        body: new TextEncoder().encode("body"),
        signal: new AbortController().signal,
      }),
      "the reply's head",
    );
    const first = await withTimeout(body.read(), "the reply");
    assert.equal(new TextDecoder().decode(first), "half");
    (await connected.promise).resetAndDestroy();
    await assert.rejects(withTimeout(body.read(), "the end"), {
      message: "the connection to the upstream broke",
    });
    await client.close();
    await turns(LAST_TURNS);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  },
});

/** A clock for `Date.now()`, `performance.now()` and one client's timers, advanced by the test. */
function silenceClock(): {
  readonly timers: Timers;
  readonly advance: (ms: number) => void;
  readonly restore: () => void;
} {
  const original = performance.now;
  const originalDate = Date.now;
  const aheadMs = Date.now() - performance.now();
  let nowMs = original.call(performance);
  const due = new Map<TimerId, { readonly atMs: number; run(): void }>();
  performance.now = () => nowMs;
  Date.now = () => Math.floor(nowMs + aheadMs);
  return {
    timers: {
      set(run, ms) {
        const id = setTimeout(() => {}, 0);
        clearTimeout(id);
        due.set(id, { atMs: nowMs + ms, run });
        return id;
      },
      clear: (id) => void due.delete(id),
    },
    advance(ms) {
      nowMs += ms;
      for (const [id, { atMs, run }] of [...due]) {
        if (atMs <= nowMs && due.delete(id)) run();
      }
    },
    restore: () => {
      performance.now = original;
      Date.now = originalDate;
    },
  };
}

for (const hasFrames of [true, false]) {
  Deno.test(`a reader that counts frames ${hasFrames ? "keeps a body alive by noting them" : "ends a body of bytes without any at the limit on silence"}`, async () => {
    const clock = silenceClock();
    let send = (): void => {};
    await using server = serveLoopback(() =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            send = () => controller.enqueue(new Uint8Array([1]));
            send();
          },
        }),
      )
    );
    const client = upstreamClient({
      connectTimeoutMs: 1_000_000,
      firstByteTimeoutMs: 1_000_000,
      idleTimeoutMs: 1_000,
    }, clock.timers);
    try {
      const { body } = await client.call({
        url: `http://127.0.0.1:${server.addr.port}/`,
        headers: {},
        body: new Uint8Array(0),
        signal: new AbortController().signal,
      });
      await body.read();
      const noteFrame = body.countOnlyFrames();
      let onChunk = (): void => {};
      let failure: unknown;
      body.pushTo({
        onChunk: () => onChunk(),
        onEnd: () => {},
        onError: (error) => {
          failure = error;
        },
      });
      for (let i = 0; i < 3; i++) {
        clock.advance(600);
        const arrived = new Promise<void>((resolve) => {
          onChunk = resolve;
        });
        if (failure !== undefined) break;
        send();
        await arrived;
        if (hasFrames) noteFrame();
      }
      assert.equal(
        failure instanceof ApiError ? failure.kind : failure,
        hasFrames ? undefined : "timeout",
      );
      body.cancel();
    } finally {
      clock.restore();
      await client.close();
      await turns(LAST_TURNS);
    }
  });
}

/** An upstream on plain TCP that replies to each request with its body. */
function echoingUpstream(
  afterReply: (conn: Deno.Conn, replies: number) => Promise<void>,
): AsyncDisposable & { readonly url: string; connections(): number } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns: Deno.Conn[] = [];
  let replies = 0;
  const serve = async (conn: Deno.Conn): Promise<void> => {
    const buffer = new Uint8Array(4096);
    let text = "";
    for (;;) {
      const size = await conn.read(buffer);
      if (size === null) return;
      text += new TextDecoder().decode(buffer.subarray(0, size));
      const body = /\r\n\r\n(call-\d+;)$/.exec(text)?.[1];
      if (body === undefined) continue;
      text = "";
      await conn.write(replyOf(body));
      await afterReply(conn, ++replies);
    }
  };
  const running = (async () => {
    const served: Promise<void>[] = [];
    for await (const conn of listener) {
      conns.push(conn);
      served.push(serve(conn).catch(() => {}));
    }
    await Promise.all(served);
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/`,
    connections: () => conns.length,
    async [Symbol.asyncDispose]() {
      for (const one of [listener, ...conns]) {
        try {
          one.close();
        } catch {
          // Already closed.
        }
      }
      await running;
    },
  };
}

function replyOf(body: string): Uint8Array {
  return new TextEncoder().encode(
    `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Makes calls one after another; returns how many connections they took. */
async function connectionsOf(calls: number, stray: boolean): Promise<number> {
  await using upstream = echoingUpstream(async (conn, replies) => {
    if (stray && replies === 1) await conn.write(replyOf("stray"));
  });
  const limits = { connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000 };
  const client = upstreamClient(
    { ...limits, idleTimeoutMs: 60_000 },
    gatewayTimers(),
  );
  const strayIsSeen = async (): Promise<void> => {
    while (client.connections().open > 0) await turns(1);
  };
  try {
    for (let n = 0; n < calls; n++) {
      const sent = `call-${n};`;
      const { body } = await client.call({
        url: upstream.url,
        headers: {},
        body: new TextEncoder().encode(sent),
        signal: new AbortController().signal,
      });
      const chunk = await body.read();
      assert.equal(new TextDecoder().decode(chunk), sent);
      assert.equal(await body.read(), undefined);
      if (stray && n === 0) await withTimeout(strayIsSeen(), "the stray reply");
      // Then undici could use the connection again.
      await turns(MANY_TURNS);
    }
    return upstream.connections();
  } finally {
    await client.close();
    await turns(LAST_TURNS);
  }
}

Deno.test("after bytes that no request asked for, each connection to that upstream carries one call", async () => {
  assert.equal(await connectionsOf(5, false), 1);
  assert.equal(await connectionsOf(5, true), 5);
});
