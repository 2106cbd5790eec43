/** Requests of the Responses format through one web socket, beside the same ones over HTTP. */
import assert from "node:assert/strict";
import { compact } from "../../translate/bytes/compact.ts";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import { openSocket, replyIn } from "../support/clients/socket_client.ts";
import { FAMILIES, startTestGateway } from "../support/test_gateway.ts";

const [MODEL = ""] = FAMILIES;
const typesOf = (events: readonly JsonObject[]): readonly unknown[] =>
  events.map(({ type }) => type);

Deno.test("a reply through a web socket has the events of a stream", async (t) => {
  await using gateway = await startTestGateway();
  await using client = await openSocket(gateway.url);
  for (const model of FAMILIES) {
    await t.step(model, async () => {
      const fields = { model, input: "Hello.", store: false };
      const overHttp = await gateway.post("/v1/responses", {
        ...fields,
        stream: true,
      });
      const frames = (await overHttp.text()).split("\n\n").filter((frame) =>
        frame !== ""
      ).map((frame) => JSON.parse(frame.split("data: ")[1] ?? ""));
      const events = await client.create(fields);
      assert.deepEqual(typesOf(events), typesOf(frames));
      assert.deepEqual(
        events.map(({ sequence_number: at }) => at),
        frames.map((_, at) => at),
      );
    });
  }
});

Deno.test("a connection continues its replies, stored or not", async () => {
  await using gateway = await startTestGateway();
  await using client = await openSocket(gateway.url);
  for (const store of [true, false]) {
    let previous: JsonObject = {};
    for (let turn = 0; turn < 4; turn++) {
      const events = await client.create({
        model: MODEL,
        input: `Turn ${turn}.`,
        store,
        ...previous,
      });
      const reply = replyIn(events);
      assert.equal(reply["status"], "completed");
      assert.equal(reply["store"], store);
      assert.equal(
        reply["previous_response_id"],
        previous["previous_response_id"] ?? null,
      );
      previous = { previous_response_id: reply["id"] };
    }
    const sent = gateway.replay.requestLog.entries.at(-1);
    const turns = JSON.stringify(sent?.json).match(/Turn \d/g);
    assert.equal(new Set(turns).size, 4);
  }
});

Deno.test("generate: false prepares a reply without an upstream and without a charge", async (t) => {
  for (const storing of ["on", "off"]) {
    await t.step(`GATEWAY_STORE_RESPONSES=${storing}`, async () => {
      await using gateway = await startTestGateway({
        env: { GATEWAY_STORE_RESPONSES: storing },
      });
      await using client = await openSocket(gateway.url);
      for (const input of [undefined, [], "Prepared."]) {
        const before = gateway.replay.requestLog.entries.length;
        const prepared = await client.create({
          model: MODEL,
          instructions: "Be brief.",
          generate: false,
          store: false,
          ...compact({ input }),
        });
        assert.deepEqual(typesOf(prepared), [
          "response.created",
          "response.in_progress",
          "response.completed",
        ]);
        const { id, status, output, usage } = replyIn(prepared);
        assert.equal(status, "completed");
        assert.deepEqual(output, []);
        assert.equal(objectOr(usage)["total_tokens"], 0);
        assert.equal(gateway.replay.requestLog.entries.length, before);
        assert.equal(gateway.logged.length, before);
        const reply = replyIn(
          await client.create({
            model: MODEL,
            input: "Now.",
            previous_response_id: id,
            store: false,
          }),
        );
        assert.equal(reply["previous_response_id"], id);
        const sent = JSON.stringify(
          gateway.replay.requestLog.entries.at(-1)?.json,
        );
        assert.equal(sent.includes("Prepared."), input === "Prepared.");
        assert.match(sent, /Now\./);
      }
    });
  }
});

Deno.test("a reply that is stored nowhere is known to its connection and lane alone, as the last one", async () => {
  await using gateway = await startTestGateway();
  await using one = await openSocket(gateway.url);
  await using other = await openSocket(gateway.url);
  const turn = { model: MODEL, input: "Hi.", store: false };
  const first = replyIn(await one.create(turn))["id"];
  const [refused] = await other.create({
    ...turn,
    previous_response_id: first,
  });
  assert.equal(refused?.["status"], 400);
  assert.equal(
    objectOr(refused?.["error"])["code"],
    "previous_response_not_found",
  );
  // A fork on another lane leaves the first lane's reply in place.
  const fork = await one.create({
    ...turn,
    stream_id: "fork",
    previous_response_id: first,
  });
  assert.deepEqual(
    new Set(fork.map((event) => event["stream_id"])),
    new Set(["fork"]),
  );
  const second = replyIn(
    await one.create({ ...turn, previous_response_id: first }),
  )["id"];
  for (const [id, status] of [[first, 400], [second, undefined]]) {
    const [event] = await one.create({ ...turn, previous_response_id: id });
    assert.equal(event?.["status"], status);
  }
});

Deno.test("a failed continuation is forgotten by its own lane alone", async () => {
  await using gateway = await startTestGateway();
  await using client = await openSocket(gateway.url);
  const turn = { model: MODEL, input: "Hi.", store: false };
  const id = replyIn(await client.create(turn))["id"];
  const again = { ...turn, previous_response_id: id };
  const codeOf = async (fields: JsonObject): Promise<unknown> =>
    objectOr((await client.create(fields)).at(-1)?.["error"])["code"];
  const failing = { ...again, model: "no-such-model" };
  assert.equal(
    await codeOf({ ...failing, stream_id: "x" }),
    "model_not_found",
  );
  assert.equal(await codeOf({ ...again, stream_id: "y" }), undefined);
  assert.equal(await codeOf(failing), "model_not_found");
  assert.equal(await codeOf(again), "previous_response_not_found");
});

Deno.test("a stored reply continues one that only the connection remembers, also from elsewhere", async () => {
  await using gateway = await startTestGateway();
  await using client = await openSocket(gateway.url);
  const turn = { model: MODEL, store: false };
  const first = replyIn(await client.create({ ...turn, input: "One." }));
  const second = replyIn(
    await client.create({
      ...turn,
      input: "Two.",
      store: true,
      previous_response_id: first["id"],
    }),
  );
  assert.equal(second["store"], true);
  const response = await gateway.post("/v1/responses", {
    model: MODEL,
    input: "Three.",
    previous_response_id: second["id"],
  });
  assert.equal(response.status, 200, await response.text());
  const sent = JSON.stringify(gateway.replay.requestLog.entries.at(-1)?.json);
  for (const text of ["One.", "Two.", "Three."]) {
    assert.ok(sent.includes(text));
  }
});
