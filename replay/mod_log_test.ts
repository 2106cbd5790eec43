import { chat, test } from "./testing/with_replay.ts";
import assert from "node:assert/strict";
import { startReplay } from "./mod.ts";
import { bytes, type Script, streamScript } from "./script.ts";
import { RawClient } from "./server/raw_client.ts";

test("script() registers a script or a function that takes precedence over fixtures", async (server) => {
  const script: Script = {
    ...streamScript(["one"]),
    steps: [bytes("own"), { step: "end", how: "fin" }],
  };
  server.script("text", script);
  server.script(
    "echo",
    (request) => ({ ...script, steps: [bytes(request.path)] }),
  );
  const post = async (marker: string): Promise<string> => {
    const reply = await fetch(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(chat(marker)),
    });
    return await reply.text();
  };
  assert.equal(await post("text"), "own");
  assert.equal(await post("echo"), "/v1/messages");
});

test(
  "a script that throws is answered with 500, and the server continues",
  async (server, caller) => {
    server.script("broken", () => {
      throw new Error("on purpose");
    });
    await caller.post("/v1/messages", chat("broken"));
    const { reads, closing } = await caller.readToEnd();
    assert.match(reads.join(""), /^HTTP\/1\.1 500 [^]*on purpose/);
    assert.equal(closing, "fin");
    const reply = await fetch(`${server.url}/v1/models`);
    assert.equal((await reply.json()).object, "list");
  },
);

test(
  "a client that disconnects ends its exchange even when it reads nothing",
  async (server, caller) => {
    await caller.post("/v1/messages", chat("big-frame"));
    const entry = await server.requestLog.next();
    caller.close();
    const ending = await entry.ended;
    assert.ok(ending === "caller-hung-up" || ending === "complete");
  },
);

test("a marker with a nonce counts its arrivals", async (server) => {
  const statuses: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const reply = await fetch(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(chat("recover?code=503&times=2#abc", false)),
    });
    statuses.push(reply.status);
    await reply.body?.cancel();
  }
  assert.deepEqual(statuses, [503, 503, 200]);
  assert.deepEqual(
    server.requestLog.entries.map((entry) => entry.request.attempt),
    [1, 2, 3],
  );
});

test(
  "the request log keeps each request and returns entries in order",
  async (server, caller) => {
    const coming = server.requestLog.next();
    await caller.post("/v1/messages", chat("text?x=1#n7", false));
    const entry = await coming;
    assert.equal(entry.request.method, "POST");
    assert.equal(entry.request.path, "/v1/messages");
    assert.equal(entry.request.headers["host"], "replay");
    assert.deepEqual(entry.json, chat("text?x=1#n7", false));
    assert.deepEqual(entry.marker, {
      text: "[[fx:text?x=1#n7]]",
      name: "text",
      params: { x: "1" },
      nonce: "n7",
    });
    assert.equal(await entry.ended, "complete");
    await assert.rejects(
      server.requestLog.waitForHangUp(entry.id),
      /it ended as complete/,
    );
  },
);

Deno.test("the request log drops the oldest entries beyond its limit", async () => {
  const server = await startReplay({ keepEntries: 2 });
  for (let turn = 0; turn < 3; turn++) {
    await (await fetch(`${server.url}/v1/models`)).body?.cancel();
  }
  assert.deepEqual(server.requestLog.entries.map((entry) => entry.id), [2, 3]);
  await server.close();
});

Deno.test("close() ends held exchanges and rejects pending waits on the request log", async () => {
  const server = await startReplay();
  using caller = await RawClient.connect(server.port);
  await caller.post("/v1/messages", chat("hold"));
  const entry = await server.requestLog.next();
  const waiting = assert.rejects(server.requestLog.next(), /was closed/);
  await server.close();
  await waiting;
  assert.equal(await entry.ended, "server-closed");
  assert.notEqual(typeof await caller.read(), "object");
  await assert.rejects(
    Deno.connect({ hostname: "127.0.0.1", port: server.port }),
  );
});

Deno.test("startReplay() rejects when the port is taken", async () => {
  const server = await startReplay();
  await assert.rejects(startReplay({ port: server.port }));
  await server.close();
});
