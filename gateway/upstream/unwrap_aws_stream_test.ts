import assert from "node:assert/strict";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { upstreamDialect } from "../../translate/dialects.ts";
import {
  chunkFrame,
  exceptionFrame,
} from "../../translate/testing/aws_frames.ts";
import { gatewayTimers } from "../timers.ts";
import type { ByteSource } from "./http/byte_source.ts";
import { upstreamClient } from "./http/http_client.ts";
import { unwrapAwsStream } from "./unwrap_aws_stream.ts";
import { serveLoopback } from "../../tests/support/serve_loopback.ts";

const PING = chunkFrame('{"type":"ping"}');
const PING_TEXT = 'event: ping\ndata: {"type":"ping"}\n\n';

/** The unwrapped body of a real response of these chunks. */
async function withBody(
  chunks: readonly Uint8Array[],
  run: (body: ByteSource) => Promise<void>,
): Promise<void> {
  await using server = serveLoopback(() =>
    new Response(
      ReadableStream.from(chunks.map((chunk) => new Uint8Array(chunk))),
      { headers: { "content-type": "application/vnd.amazon.eventstream" } },
    )
  );
  const client = upstreamClient({
    connectTimeoutMs: 5_000,
    firstByteTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
  }, gatewayTimers());
  try {
    const response = await client.call({
      url: `http://127.0.0.1:${server.addr.port}/`,
      headers: {},
      body: new Uint8Array(),
      signal: new AbortController().signal,
    });
    await run(unwrapAwsStream(response.body, upstreamDialect("messages")));
  } finally {
    await client.close();
  }
}

/** Everything that is read, and how the body ended. */
async function pulled(body: ByteSource): Promise<readonly string[]> {
  const pieces: Uint8Array[] = [];
  let end = "end";
  try {
    for (;;) {
      const piece = await body.read();
      if (piece === undefined) break;
      pieces.push(piece);
    }
  } catch (error) {
    end = error instanceof Error ? error.message : "unknown";
  }
  return [new TextDecoder().decode(joinPieces(pieces)), end];
}

function pushed(body: ByteSource): Promise<readonly string[]> {
  const pieces: Uint8Array[] = [];
  const ends: string[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const end = (how: string): void => {
    ends.push(how);
    // A second end would be a fault: it arrives before this.
    setTimeout(() =>
      resolve([new TextDecoder().decode(joinPieces(pieces)), ...ends])
    );
  };
  body.pushTo({
    onChunk: (bytes) => pieces.push(bytes),
    onEnd: () => end("end"),
    onError: (error) => end(error instanceof Error ? error.message : "unknown"),
  });
  return promise;
}

const CASES: readonly (readonly [
  string,
  readonly Uint8Array[],
  readonly string[],
])[] = [
  ["a whole stream", [PING, PING], [PING_TEXT + PING_TEXT, "end"]],
  [
    "frames cut anywhere",
    [PING.subarray(0, 5), PING.subarray(5, 60), PING.subarray(60)],
    [PING_TEXT, "end"],
  ],
  ["an empty body", [], ["", "end"]],
  [
    "an exception midway",
    [PING, exceptionFrame("throttlingException", "slow down"), PING],
    [PING_TEXT, "slow down"],
  ],
  [
    "a cut inside a frame",
    [PING, PING.subarray(0, 50)],
    [PING_TEXT, "the upstream's reply ended in the middle of a frame"],
  ],
];

for (const [name, chunks, expected] of CASES) {
  Deno.test(`unwrapAwsStream(), read: ${name}`, () =>
    withBody(chunks, async (body) => {
      assert.deepEqual(await pulled(body), expected);
    }));

  Deno.test(`unwrapAwsStream(), pushed: ${name}`, () =>
    withBody(chunks, async (body) => {
      assert.deepEqual(await pushed(body), expected);
    }));
}

Deno.test("unwrapAwsStream(): the first read, then pushed, as a stream is", () =>
  withBody(
    [joinPieces([PING, exceptionFrame("throttlingException", "slow down")])],
    async (body) => {
      const first = await body.read();
      assert.equal(new TextDecoder().decode(first), PING_TEXT);
      assert.deepEqual(await pushed(body), ["", "slow down"]);
    },
  ));
