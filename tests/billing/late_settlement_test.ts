/**
 * Two gateways on one Postgres: one is suspended for longer than its lease while it serves streams.
 */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { framesOf } from "../support/upstreams/upstream_bytes.ts";
import { withTimeout } from "../support/with_timeout.ts";

const KEY = "sk-0123456789abcdefghij";
const CALLS = 3;
/** The lease of ten seconds, and heartbeats that fail after five on a slow disk. */
const RECOVERY_MS = 60_000;

/** Streams of 100 and 7,777 tokens that begin at once and end when they are released. */
function slowStream(released: Promise<void>): Response {
  const frames = framesOf("text", "messages").join("")
    .replaceAll('"input_tokens":25', '"input_tokens":100')
    .replace('"output_tokens":12', '"output_tokens":7777');
  const rest = frames.indexOf("event: content_block_stop");
  const body = ReadableStream.from((async function* () {
    yield frames.slice(0, rest);
    await released;
    yield frames.slice(rest);
  })()).pipeThrough(new TextEncoderStream());
  return new Response(body, {
    headers: { "content-type": "text/event-stream" },
  });
}

if (POSTGRES_PROGRAMS === undefined) {
  Deno.test.ignore(
    "a suspended gateway: SKIPPED, because PostgreSQL is not installed",
    () => {},
  );
} else {
  Deno.test("a gateway that was suspended past its lease charges its streams by their usage", async () => {
    await using database = await startPostgresServer();
    await using folder = await temporaryFolder();
    await using upstream = startHostUpstream();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    upstream.answer(() => slowStream(promise));
    const start = () =>
      startProgram({
        folder: folder.path,
        env: {
          DATABASE_URL: database.url,
          GATEWAY_KEY: KEY,
          VENDORA_API_KEY: "sk-upstream-0123456789",
          VENDORA_BASE_URL: upstream.url,
        },
      });
    await using serving = await start();
    await using other = await start();
    const calls = await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const response = await serving.call(KEY, {
          max_tokens: 8000,
          stream: true,
        });
        assert.equal(response.status, 200);
        return response;
      }),
    );
    serving.signal("SIGSTOP");
    await withTimeout(
      other.printed(/"type":"recovered","calls":3/),
      "the recovery",
      RECOVERY_MS,
    ).catch((error) => {
      throw new Error(other.output(), { cause: error });
    });
    release();
    serving.signal("SIGCONT");
    for (const call of calls) {
      assert.match(await call.text(), /"output_tokens":7777[^]*message_stop/);
    }
    await withTimeout(
      serving.printed(/"type":"corrected"/),
      "the correction",
    );
    serving.signal("SIGTERM");
    assert.equal(await withTimeout(serving.ended, "the end"), 0);
    const get = async (path: string) =>
      await (await fetch(other.url + path, {
        headers: { "x-api-key": KEY },
      })).json();
    for (const { headers } of calls) {
      const id = headers.get("x-request-id") ?? "";
      const call = await get(`/v1/calls/${id}`);
      assert.deepEqual(
        [call.ended, call.status, call.stream, call.estimated],
        ["complete", 200, true, false],
      );
      assert.deepEqual(
        [call.tokens.input, call.tokens.output, call.attempts.length],
        [100, 7777, 1],
      );
      // 100 and 7,777 tokens at 5 and 25 dollars a million.
      assert.equal(call.micro_usd, 500 + 194_425);
      assert.equal(call.charge.micro_usd, call.micro_usd);
      assert.equal(call.charge.corrected, true);
    }
    const usage = await get("/v1/usage");
    assert.equal(usage.totals.requests, CALLS);
    assert.equal(usage.totals.estimated_requests, 0);
    assert.equal(usage.totals.micro_usd, CALLS * 194_925);
  });
}
