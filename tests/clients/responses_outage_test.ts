/** Stored replies while the store fails or is slow, and when clients disconnect. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import OpenAI from "openai";
import { readResponseStream } from "../../translate/formats/responses/stream_grammar.ts";
import { fakeClock } from "../support/fake_clock.ts";
import {
  messageItem,
  reasoningItem,
} from "../support/upstreams/responses_upstream.ts";
import {
  RESPONSES_MODEL as model,
  type ResponsesWorld,
  withResponsesUpstream,
} from "../support/responses_world.ts";
import type { TestGatewayOptions } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/** Most milliseconds that a reply waits for the store. */
const KEEP_MS = 2_000;

/** Runs a test on a SQLite file; `other` is a second connection to it. */
async function withFile(
  run: (world: ResponsesWorld, other: DatabaseSync) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/gateway.sqlite3`;
  await withResponsesUpstream(async (world) => {
    using other = new DatabaseSync(path);
    await run(world, other);
  }, { ...options, env: { DATABASE_URL: `sqlite:${path}` } });
}

Deno.test("a store that fails ends no reply", () =>
  withFile(async ({ gateway, openai }, other) => {
    const asked = { model, input: "Hi" };
    const before = await openai.responses.create(asked);
    other.exec("DROP TABLE stored_replies");
    const whole = await (await gateway.post("/v1/responses", asked)).json();
    const raw = await gateway.post("/v1/responses", { ...asked, stream: true });
    const { reply: streamed, items } = readResponseStream(await raw.text());
    for (const reply of [whole, streamed]) {
      assert.equal(reply.status, "completed");
      assert.equal(reply.store, false);
      assert.deepEqual(reply.output, items);
    }
    const entries = gateway.logged.filter(({ path }) =>
      path === "/v1/responses"
    );
    assert.deepEqual(entries.map(({ stored, ended }) => [stored, ended]), [
      [true, "complete"],
      [false, "complete"],
      [false, "complete"],
    ]);
    assert.match(
      gateway.gateway.metrics.text(),
      /gateway_stored_replies_total\{stored="false"\} 2\n/,
    );
    for (
      const call of [
        openai.responses.retrieve(before.id),
        openai.responses.delete(before.id),
        openai.responses.create({ ...asked, previous_response_id: before.id }),
      ]
    ) {
      const error = await call.then(() => undefined, (error) => error);
      assert.ok(error instanceof OpenAI.APIError);
      assert.equal(error.status, 503);
    }
  }));

Deno.test("a reply waits for a slow store for two seconds, then ends without being stored", async () => {
  const clock = fakeClock();
  await withFile(async ({ gateway, upstream }, other) => {
    for (const stream of [false, true]) {
      const reached = Promise.withResolvers<void>();
      upstream.play({ items: [messageItem("hello")], after: reached.promise });
      const called = upstream.nextCall();
      const response = gateway.post("/v1/responses", {
        model,
        input: "Hi",
        stream,
      });
      await called;
      // The reply waits for its reservation as well: that must not meet the lock.
      await gateway.accounts.flush();
      other.exec("BEGIN EXCLUSIVE");
      reached.resolve();
      const text = response.then((reply) => reply.text());
      await clock.timer((ms) => ms === KEEP_MS);
      clock.advance(KEEP_MS);
      const body = await text;
      other.exec("ROLLBACK");
      const reply = stream ? readResponseStream(body).reply : JSON.parse(body);
      assert.equal(reply["status"], "completed");
      assert.equal(reply["store"], false);
    }
  }, { timers: clock.timers });
});

Deno.test("a client that disconnects before the end leaves nothing stored", () =>
  withFile(async ({ gateway, upstream }, other) => {
    const held = Promise.withResolvers<void>();
    upstream.play({ items: [messageItem("hello")], after: held.promise });
    const abort = new AbortController();
    const called = upstream.nextCall();
    const response = gateway.post(
      "/v1/responses",
      { model, input: "Hi", stream: true },
      {},
      abort.signal,
    );
    await called;
    abort.abort();
    await response.catch(() => {});
    const { stored } = await gateway.logEntry(({ ended }) =>
      ended === "caller_left"
    );
    held.resolve();
    assert.equal(stored, undefined);
    assert.deepEqual(other.prepare("SELECT * FROM stored_replies").all(), []);
  }));

Deno.test("an upstream of the same format stores nothing, and gets whole items", () =>
  withFile(async ({ upstream, openai }) => {
    for (const stream of [false, true]) {
      const ask = (
        input: OpenAI.Responses.ResponseInput,
        previous_response_id?: string,
      ): Promise<OpenAI.Responses.Response> => {
        const asked = {
          model,
          input,
          previous_response_id: previous_response_id ?? null,
        };
        return stream
          ? openai.responses.stream(asked).finalResponse()
          : openai.responses.create(asked);
      };
      const user = (content: string) => ({ role: "user" as const, content });
      upstream.play({
        items: [reasoningItem("let me see", "proof"), messageItem("one")],
      });
      const first = await ask([user("1")]);
      upstream.play({ items: [messageItem("two")] });
      const second = await ask([user("2")], first.id);
      assert.equal(second.previous_response_id, first.id);
      const body = upstream.calls.at(-1)?.body;
      assert.equal(body?.["store"], false);
      assert.equal(body?.["previous_response_id"], null);
      assert.deepEqual(body?.["input"], [
        user("1"),
        reasoningItem("let me see", "proof"),
        messageItem("one"),
        user("2"),
      ]);
      // Both replies have an item with one id: the later one counts.
      await ask([{ type: "item_reference", id: "msg_up" }, user("3")]);
      assert.deepEqual(upstream.calls.at(-1)?.body["input"], [
        messageItem("two"),
        user("3"),
      ]);
    }
  }));

Deno.test("two gateways on one store: a reply of one is continued by the other", async () => {
  await using folder = await temporaryFolder();
  const env = { DATABASE_URL: `sqlite:${folder.path}/gateway.sqlite3` };
  await withResponsesUpstream(
    (one) =>
      withResponsesUpstream(async (other) => {
        const ask = (world: ResponsesWorld, previous?: string) =>
          world.openai.responses.stream({
            model,
            input: "Hi",
            previous_response_id: previous ?? null,
          }).finalResponse();
        let last = await ask(one);
        for (const world of [other, one, other, one]) {
          last = await ask(world, last.id);
        }
        assert.equal(
          (await other.openai.responses.retrieve(last.id)).id,
          last.id,
        );
        const input = one.upstream.calls.at(-1)?.body["input"];
        assert.equal(Array.isArray(input) && input.length, 9);
      }, { env }),
    { env },
  );
});
