/**
 * Calls that have lost their client, their upstream or their store: within the time limit that the
 * documentation names, the concurrency slot, the upstream's connection, the client's connection and
 * the reservation are free again.
 */
import assert from "node:assert/strict";
import { startCutProxy } from "../../gateway/accounts/testing/cut_proxy.ts";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import {
  FORMAT_PAIRS,
  type FormatPair,
  requestBody,
} from "../support/tables/billing.ts";
import { RawClient } from "../support/clients/raw_client.ts";
import {
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from "../support/upstreams/raw_upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import {
  chunk,
  framesOf,
  LAST_CHUNK,
  STREAM_HEAD,
} from "../support/upstreams/upstream_bytes.ts";
import { withTimeout } from "../support/with_timeout.ts";

interface Call {
  readonly gateway: TestGateway;
  readonly client: RawClient;
  readonly exchange: RawRequest;
  readonly pair: FormatPair;
}

interface Loss {
  readonly name: string;
  /** The time limit that ends the call, small. */
  readonly env: Readonly<Record<string, string>>;
  readonly ended: "caller_left" | "failed" | "refused";
  readonly happens: (call: Call) => Promise<void> | void;
}

/** Sends the beginning of a stream until the client has text. */
async function begin({ client, exchange, pair }: Call): Promise<void> {
  const frames = framesOf("text", pair.upstream);
  const most = pair.upstream === "gemini" ? 1 : 6;
  await exchange.socket.send(
    STREAM_HEAD + frames.slice(0, most).map(chunk).join(""),
  );
  await client.until(/ The/);
}

/** Sends text without end; stops when the connection is closed. */
async function sendOn({ exchange, pair }: Call, pauseMs = 0): Promise<void> {
  const at = pair.upstream === "gemini" ? 0 : 3;
  const frame = framesOf("text", pair.upstream)[at] ?? "";
  const piece = chunk(pauseMs > 0 ? frame : frame.repeat(1000));
  let isClosed = false;
  const closed = exchange.socket.closed.then(() => isClosed = true);
  while (!isClosed) {
    await Promise.race([
      closed,
      exchange.socket.send(piece).catch(() => closed),
    ]);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const LOSSES: readonly Loss[] = [
  {
    name: "a client that resets its connection",
    env: { GATEWAY_LEFT_CLIENT_SECONDS: "0" },
    ended: "caller_left",
    async happens(call) {
      await begin(call);
      call.client.socket.reset();
    },
  },
  {
    name: "a client that reads no further and does not disconnect",
    // A stream that is not read is noticed when a ping is due.
    env: {
      GATEWAY_SLOW_READER_SECONDS: "0.3",
      GATEWAY_PING_SECONDS: "1",
      GATEWAY_CONNECT_TIMEOUT_SECONDS: "0.9",
    },
    ended: "caller_left",
    async happens(call) {
      await begin(call);
      call.client.socket.pause();
      await sendOn(call);
    },
  },
  {
    name: "an upstream that never begins its reply",
    env: { GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.3" },
    ended: "refused",
    happens: () => {},
  },
  {
    name: "an upstream that falls silent in its reply",
    env: { GATEWAY_IDLE_TIMEOUT_SECONDS: "0.3" },
    ended: "failed",
    happens: begin,
  },
  {
    name: "an upstream that never ends its reply",
    env: { GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.5" },
    ended: "failed",
    async happens(call) {
      await begin(call);
      await sendOn(call, 20);
    },
  },
  {
    name: "an upstream that resets its connection",
    env: {},
    ended: "failed",
    async happens(call) {
      await begin(call);
      call.exchange.socket.reset();
    },
  },
];

async function startCall(
  gateway: TestGateway,
  upstream: RawUpstream,
  client: RawClient,
  pair: FormatPair,
): Promise<Call> {
  const asked = upstream.next();
  await client.post(pair.path, requestBody(pair, "Hi", true));
  const exchange = await withTimeout(asked, "the upstream's request");
  assert.equal(gateway.gateway.concurrency.inUse(), 1);
  return { gateway, client, exchange, pair };
}

function assertNoSlot({ gateway }: TestGateway): void {
  assert.equal(gateway.concurrency.inUse(), 0);
  assert.equal(gateway.activeCalls.size, 0);
}

async function assertNothingReserved({ accounts }: TestGateway): Promise<void> {
  await accounts.flush();
  const account = await accounts.admin.accounts.get("default");
  assert.deepEqual([account.reservedMicroUsd, account.openRequests], [0, 0]);
  assert.deepEqual(await accounts.admin.audit(), []);
}

for (const { name, env, ended, happens } of LOSSES) {
  Deno.test(`nothing stays taken after ${name}`, async (t) => {
    for (const pair of FORMAT_PAIRS) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        await using upstream = await startRawUpstream();
        await using gateway = await startTestGateway({
          env: { GATEWAY_MAX_ATTEMPTS: "1", ...env },
          access: upstream.vendors,
        });
        using client = await RawClient.connect(gateway);
        const call = await startCall(gateway, upstream, client, pair);
        await happens(call);
        await withTimeout(
          upstream.idle(),
          "the upstream's connection to close",
        );
        const entry = await withTimeout(
          gateway.logEntry(() => true),
          "the end of the call",
        );
        assert.equal(entry.ended, ended);
        assertNoSlot(gateway);
        await assertNothingReserved(gateway);
      });
    }
  });
}

if (POSTGRES_PROGRAMS === undefined) {
  Deno.test.ignore(
    "nothing stays taken after the store is lost: SKIPPED, because PostgreSQL is not installed",
    () => {},
  );
} else {
  Deno.test("nothing stays taken after the store is lost: a call under way ends, a new one is refused, and the reservations are freed when it is back", async () => {
    await using server = await startPostgresServer();
    await using proxy = startCutProxy(server.url);
    await using upstream = await startRawUpstream();
    await using gateway = await startTestGateway({
      env: { GATEWAY_MAX_ATTEMPTS: "1", DATABASE_URL: proxy.url },
      access: upstream.vendors,
    });
    const pair = FORMAT_PAIRS[0];
    assert.ok(pair !== undefined);
    using client = await RawClient.connect(gateway);
    const call = await startCall(gateway, upstream, client, pair);
    await begin(call);
    proxy.hold("all");
    // Waits for its decision until the store's time limit of five seconds.
    const refused = await withTimeout(
      gateway.post(pair.path, requestBody(pair, "Hi", false)),
      "the refusal",
    );
    assert.equal(refused.status, 503);
    await refused.body?.cancel();
    const frames = framesOf("text", pair.upstream).slice(6);
    await call.exchange.socket.send(frames.map(chunk).join("") + LAST_CHUNK);
    await withTimeout(
      client.until(/message_stop|\[DONE\]/),
      "the reply's end",
    );
    await withTimeout(
      gateway.logEntry(({ ended }) => ended === "complete"),
      "the end of the call",
    );
    // The store is still away.
    assertNoSlot(gateway);
    proxy.release();
    await withTimeout(
      gateway.event(({ type }) => type === "store_up"),
      "the store",
    );
    await assertNothingReserved(gateway);
  });
}
