/** How a web socket of the Responses format, and the replies in it, end. */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import {
  openSocket,
  type SocketClient,
} from "../support/clients/socket_client.ts";
import {
  clientFrame,
  OPCODE,
  RawWebSocket,
} from "../support/clients/raw_web_socket.ts";
import { HANDSHAKE } from "../support/clients/handshake.ts";
import { startRawUpstream } from "../support/upstreams/raw_upstream.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
} from "../support/test_gateway.ts";
import {
  chunk,
  framesOf,
  STREAM_HEAD,
} from "../support/upstreams/upstream_bytes.ts";
import { withGateway } from "../support/with_gateway.ts";
import { withTimeout } from "../support/with_timeout.ts";

const [MODEL = ""] = FAMILIES;
const TEXT = "response.output_text.delta";

function creation(input: string, fields: JsonObject = {}): JsonObject {
  return {
    type: "response.create",
    model: MODEL,
    store: false,
    input,
    ...fields,
  };
}

/** Begins a reply that its upstream holds back; ends once its first text is there. */
async function held(
  client: SocketClient,
  gate: string,
  fields: JsonObject = {},
): Promise<void> {
  client.send(creation(`[[fx:text-long?gate=${gate}&at=4]]`, fields));
  await client.until(({ type }) => type === TEXT);
}

/** Resolves with the last event of a reply. */
function end(client: SocketClient): Promise<JsonObject> {
  return client.until(({ type }) =>
    /^(?:error|response\.(?:completed|failed))$/.test(String(type))
  );
}

Deno.test("closing cancels the reply under way, and those that wait never begin", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    client.send(creation("[[fx:hold-mid#left]]"));
    await client.until(({ type }) => type === "response.created");
    client.send(creation("Later."));
    await client.close();
    const entry = await withTimeout(
      gateway.replay.requestLog.waitForNonce("left"),
      "the call",
    );
    assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
    const logged = await gateway.logEntry(({ ended }) =>
      ended === "caller_left"
    );
    assert.equal(logged.endpoint, "/v1/responses");
    assert.equal(gateway.replay.requestLog.entries.length, 1);
    assert.equal(gateway.gateway.concurrency.inUse(), 0);
    await withTimeout(gateway.gateway.sockets.closed(), "the last one");
    assert.equal(gateway.gateway.recentReplies.bytes, 0);
  }));

Deno.test("a client that is gone without a close cancels the reply under way", () =>
  withGateway(async (gateway) => {
    using socket = await RawWebSocket.open(gateway.url);
    await socket.sendText(JSON.stringify(creation("[[fx:hold-mid#gone]]")));
    assert.equal((await socket.nextEvent())["type"], "response.created");
    socket.socket.reset();
    const entry = await withTimeout(
      gateway.replay.requestLog.waitForNonce("gone"),
      "the call",
    );
    assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
    await withTimeout(gateway.gateway.sockets.closed(), "the last one");
  }));

Deno.test("turns of a lane run in order, those of different lanes beside each other", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    await held(client, "one", { stream_id: "one" });
    client.send(creation("Second.", { stream_id: "one" }));
    client.send(creation("Other.", { stream_id: "two" }));
    client.send(creation("Unnamed."));
    const ended: unknown[] = [];
    for (let i = 0; i < 2; i++) ended.push((await end(client))["stream_id"]);
    assert.deepEqual(new Set(ended), new Set(["two", undefined]));
    gateway.replay.openGate("one");
    for (let i = 0; i < 2; i++) {
      const { type, stream_id } = await end(client);
      assert.deepEqual([type, stream_id], ["response.completed", "one"]);
    }
    await client.close();
  }));

Deno.test("sixteen replies are under way at once, and the 33rd lane has no name", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    for (let i = 0; i < 16; i++) {
      client.send(creation("[[fx:text-long?gate=all&at=4]]", {
        stream_id: `lane-${i}`,
      }));
    }
    for (let i = 0; i < 16; i++) {
      await client.until(({ type }) => type === "response.created");
    }
    client.send(creation("Waits.", { stream_id: "lane-16" }));
    for (let i = 17; i < 32; i++) {
      client.send(creation("Waits.", { stream_id: `lane-${i}` }));
    }
    client.send(creation("Refused.", { stream_id: "lane-32" }));
    const refused = await client.until(({ type }) => type === "error");
    assert.equal(refused["stream_id"], "lane-32");
    assert.equal(
      objectOr(refused["error"])["code"],
      "websocket_stream_limit_reached",
    );
    assert.equal(gateway.gateway.concurrency.inUse(), 16);
    gateway.replay.openGate("all");
    const ended = new Set<unknown>();
    for (let i = 0; i < 32; i++) ended.add((await end(client))["stream_id"]);
    assert.equal(ended.size, 32);
    await client.close();
  }));

Deno.test("more turns than may wait are refused, and the others are served", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    await held(client, "first");
    for (let i = 0; i < 70; i++) client.send(creation("Waits."));
    for (let i = 0; i < 6; i++) {
      const refused = await client.until(({ type }) => type === "error");
      assert.equal(refused["status"], 429);
      assert.equal(
        objectOr(refused["error"])["code"],
        "too_many_waiting_requests",
      );
    }
    gateway.replay.openGate("first");
    for (let i = 0; i < 65; i++) {
      assert.equal((await end(client))["type"], "response.completed");
    }
    await client.close();
  }));

Deno.test("a client that goes on sending requests that cannot wait is cut off", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    await held(client, "first");
    for (let i = 0; i < 64 + 1_001; i++) client.send(creation("Waits."));
    assert.equal((await withTimeout(client.closed, "the close")).code, 1008);
    assert.equal(gateway.replay.requestLog.entries.length, 1);
  }));

Deno.test("a connection ends at its age, after the reply under way", () =>
  withGateway(async (gateway) => {
    const idle = await openSocket(gateway.url);
    const busy = await openSocket(gateway.url);
    await held(busy, "age");
    busy.send(creation("Too late."));
    for (const client of [idle, busy]) {
      const { status, error } = await client.until(({ type }) =>
        type === "error"
      );
      assert.deepEqual(
        [status, objectOr(error)["code"]],
        [400, "websocket_connection_limit_reached"],
      );
    }
    assert.equal((await idle.closed).code, 1000);
    gateway.replay.openGate("age");
    assert.equal((await end(busy))["type"], "response.completed");
    assert.equal((await busy.closed).code, 1000);
    assert.equal(gateway.replay.requestLog.entries.length, 1);
  }, { env: { GATEWAY_WEB_SOCKET_SECONDS: "0.5" } }));

Deno.test("a revoked key ends its connections and refuses their next turns", () =>
  withGateway(async (gateway) => {
    const { admin } = gateway.accounts;
    const issued = await admin.keys.issue({ accountId: "default" });
    const bearer = { authorization: `Bearer ${issued.text}` };
    const next = await openSocket(gateway.url, bearer);
    const busy = await openSocket(gateway.url, bearer);
    const other = await openSocket(gateway.url);
    await held(busy, "revoked");
    await admin.keys.revoke(issued.record.id);
    next.send(creation("Hi."));
    assert.equal((await next.next())["status"], 401);
    gateway.replay.openGate("revoked");
    assert.equal((await end(busy))["type"], "response.completed");
    for (const client of [next, busy]) {
      assert.equal((await client.next())["status"], 401);
      const { code } = await withTimeout(client.closed, "the close");
      assert.equal(code, 1008);
    }
    assert.equal(other.socket.readyState, WebSocket.OPEN);
    await other.close();
    await withTimeout(gateway.gateway.sockets.closed(), "the last one");
  }));

Deno.test("a drain ends idle connections at once and others after their reply", () =>
  withGateway(async (gateway) => {
    const idle = await openSocket(gateway.url);
    const busy = await openSocket(gateway.url);
    await held(busy, "drain");
    gateway.gateway.drain();
    assert.equal((await withTimeout(idle.closed, "the close")).code, 1001);
    busy.send(creation("Late."));
    assert.equal((await end(busy))["status"], 503);
    gateway.replay.openGate("drain");
    assert.equal((await end(busy))["type"], "response.completed");
    assert.equal((await withTimeout(busy.closed, "the close")).code, 1001);
    await withTimeout(gateway.gateway.sockets.closed(), "the last one");
    const refused = await fetch(`${gateway.url}/v1/responses`, {
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        ...HANDSHAKE,
      },
    });
    assert.equal(refused.status, 503);
    await refused.body?.cancel();
  }));

Deno.test("an aborted reply ends with its error, and then the connection", () =>
  withGateway(async (gateway) => {
    const client = await openSocket(gateway.url);
    await held(client, "abort");
    gateway.gateway.abortAll();
    const failed = await client.until(({ type }) => type === "response.failed");
    assert.equal(objectOr(failed["response"])["status"], "failed");
    assert.equal((await withTimeout(client.closed, "the close")).code, 1001);
  }));

Deno.test("a silent client gets a ping, and is cut off if it does not answer", () =>
  withGateway(async (gateway) => {
    using socket = await RawWebSocket.open(gateway.url);
    for (let round = 0; round < 2; round++) {
      assert.equal((await socket.next())?.opcode, OPCODE.ping);
      if (round === 0) await socket.send(clientFrame(OPCODE.pong));
    }
    const [code, reason] = await socket.closeFrame();
    assert.equal(code, 1008);
    assert.equal(reason, "the client answers no ping");
    // The client keeps its side open.
    await withTimeout(gateway.gateway.sockets.closed(), "the last one");
  }, { env: { GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1" } }));

Deno.test("a client that does not read holds one buffer, and is cut off", async () => {
  await using upstream = await startRawUpstream();
  await using gateway = await startTestGateway({
    env: {
      GATEWAY_SLOW_READER_SECONDS: "0.3",
      GATEWAY_WEB_SOCKET_IDLE_SECONDS: "4",
    },
    access: upstream.vendors,
  });
  using socket = await RawWebSocket.open(gateway.url);
  const asked = upstream.next();
  await socket.sendText(JSON.stringify(creation("Hi.")));
  const exchange = await withTimeout(asked, "the upstream's request");
  socket.socket.pause();
  const frames = framesOf("text", "messages");
  await exchange.socket.send(
    STREAM_HEAD + frames.slice(0, 6).map(chunk).join(""),
  );
  const piece = chunk((frames[3] ?? "").repeat(1000));
  let isClosed = false;
  const closed = exchange.socket.closed.then(() => isClosed = true);
  while (!isClosed) {
    await Promise.race([closed, exchange.socket.send(piece)]);
  }
  await gateway.logEntry(({ ended }) => ended === "caller_left");
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
  await withTimeout(gateway.gateway.sockets.closed(), "the last one");
});

Deno.test("a client that does not answer the close is cut off", () =>
  withGateway(async (gateway) => {
    using socket = await RawWebSocket.open(gateway.url);
    await socket.send(clientFrame(OPCODE.bytes, "{}"));
    assert.equal((await socket.closeFrame())[0], 1003);
    const { sockets } = gateway.gateway;
    assert.equal(sockets.count, 1);
    await withTimeout(sockets.closed(), "the last one");
    assert.equal(await socket.next(), undefined);
  }, { env: { GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1" } }));
