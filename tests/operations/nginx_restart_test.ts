/**
 * Two processes on one store, behind nginx as documented, restart one after the other under load:
 * each one's line is taken out of the configuration before, and put back after.
 */
import assert from "node:assert/strict";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { NGINX, startNginx } from "../support/deploy/nginx.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import type { Proxy } from "../support/deploy/proxy.ts";
import { freePort } from "../../gateway/accounts/testing/free_port.ts";
import { smallBody } from "../support/small_body.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import { framesOf, wholeOf } from "../support/upstreams/upstream_bytes.ts";

/** Length of each stream; `deno task test:long` has longer ones. */
const STREAM_SECONDS = Number(Deno.env.get("RESTART_STREAM_SECONDS") ?? 2);
const CALLS_PER_SECOND = 50;

/** A stream with a piece of text each half second. */
function slowStream(): Response {
  const [first = "", ...rest] = framesOf("text", "messages");
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      async start(controller) {
        controller.enqueue(encoder.encode(first));
        for (let at = 0; at < STREAM_SECONDS * 2; at++) {
          await new Promise((resolve) => setTimeout(resolve, 500));
          controller.enqueue(
            encoder.encode('event: ping\ndata: {"type":"ping"}\n\n'),
          );
        }
        for (const frame of rest) controller.enqueue(encoder.encode(frame));
        controller.close();
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
}

/** A call on a connection of its own; resolves to what is wrong with its reply. */
async function faultOf(
  { connect, host }: Proxy,
  stream: boolean,
): Promise<string | undefined> {
  const body = JSON.stringify(smallBody({ stream }));
  using connection = await connect();
  await connection.write(new TextEncoder().encode(
    `POST /v1/messages HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${TEST_KEY}\r\n` +
      `connection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ));
  const text = await new Response(connection.readable).text();
  const isWhole = text.startsWith("HTTP/1.1 200") &&
    text.includes(stream ? "event: message_stop" : '"type":"message"');
  return isWhole ? undefined : text.slice(0, 300);
}

Deno.test({
  name: "no call fails while each of two processes behind nginx restarts",
  ignore: NGINX === undefined,
  async fn() {
    assert.ok(NGINX !== undefined);
    await using folder = await temporaryFolder();
    await using upstream = startHostUpstream();
    await using started = new AsyncDisposableStack();
    upstream.answer(({ text }) =>
      JSON.parse(text).stream === true
        ? slowStream()
        : new Response(wholeOf("text", "messages"), {
          headers: { "content-type": "application/json" },
        })
    );
    const start = async (port: string): Promise<Program> =>
      started.use(
        await startProgram({
          folder: folder.path,
          env: {
            PORT: port,
            GATEWAY_KEY: TEST_KEY,
            VENDORA_API_KEY: "key",
            VENDORA_BASE_URL: upstream.url,
            GATEWAY_LOG: "none",
            // Workers of nginx that end still send what they have accepted.
            GATEWAY_SHUTDOWN_DELAY_SECONDS: "1",
          },
        }),
      );
    const programs = new Map<string, Program>();
    for (const port of [freePort(), freePort()]) {
      programs.set(port, await start(port));
    }
    const urls = (): string[] => [...programs.values()].map(({ url }) => url);
    await using proxy = await startNginx(NGINX, urls());
    const faults: string[] = [];
    const underWay = new Set<Promise<void>>();
    let calls = 0;
    const timer = setInterval(() => {
      const call = faultOf(proxy, calls++ % 2 === 0).catch((error) =>
        String(error)
      ).then((fault) => {
        if (fault !== undefined) faults.push(fault);
        underWay.delete(call);
      });
      underWay.add(call);
    }, 1_000 / CALLS_PER_SECOND);
    try {
      for (const [port, program] of programs) {
        await proxy.reload(urls().filter((url) => url !== program.url));
        program.signal("SIGTERM");
        assert.equal(await program.ended, 0, program.output());
        programs.set(port, await start(port));
        await proxy.reload(urls());
      }
    } finally {
      clearInterval(timer);
      await Promise.all(underWay);
    }
    assert.deepEqual(faults, []);
    assert.ok(calls > 2 * CALLS_PER_SECOND, String(calls));
  },
});
