/** Stored replies through the official library and real sockets, on every family. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { readResponseStream } from "../../translate/formats/responses/stream_grammar.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { openaiAt } from "../support/clients/library_clients.ts";
import { fault, isStored } from "../support/clients/stored_replies.ts";
import { withGateway } from "../support/with_gateway.ts";
import {
  FAMILIES,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const [MODEL = ""] = FAMILIES;

/** The JSON text of the upstream request whose prompt contains this nonce. */
async function sentUpstream(
  { replay }: TestGateway,
  nonce: string,
): Promise<string> {
  return JSON.stringify((await replay.requestLog.waitForNonce(nonce)).json);
}

Deno.test("a chain of three replies, whole and streamed", (t) =>
  eachFamily(t, async (gateway, model) => {
    for (const stream of [false, true]) {
      const { responses } = openaiAt(gateway.url);
      const ask = (
        input: string,
        previous_response_id: string | null,
        instructions: string,
      ): Promise<OpenAI.Responses.Response> => {
        const asked = { model, input, previous_response_id, instructions };
        return stream
          ? responses.stream(asked).finalResponse()
          : responses.create(asked);
      };
      const first = await ask("my name is Ada", null, "be short");
      assert.equal(isStored(first), true);
      assert.equal(first.previous_response_id, null);
      const second = await ask("I live in Paris", first.id, "be long");
      assert.equal(second.previous_response_id, first.id);
      const nonce = `third-${model}-${stream}`;
      const third = await ask(`[[fx:text#${nonce}]]`, second.id, "rhyme");
      assert.equal(third.previous_response_id, second.id);
      const sent = await sentUpstream(gateway, nonce);
      const order = ["my name is Ada", "I live in Paris", nonce];
      const places = order.map((text) => sent.indexOf(text));
      assert.ok(!places.includes(-1));
      assert.deepEqual(places.toSorted((a, b) => a - b), places);
      assert.ok(!sent.includes("be long"), "instructions were carried on");
      assert.match(sent, /rhyme/);
      assert.ok(sent.includes(JSON.stringify(first.output_text)));
      const read = await responses.retrieve(third.id);
      assert.equal(read.output_text, third.output_text);
      assert.deepEqual(read.usage, third.usage);
    }
  }));

Deno.test("the stored reply is the one that the client received", (t) =>
  eachFamily(t, async (gateway, model) => {
    for (const stream of [false, true]) {
      const response = await gateway.post("/v1/responses", {
        model,
        input: "[[fx:thinking]]",
        stream,
      });
      const text = await response.text();
      const reply = stream ? readResponseStream(text).reply : JSON.parse(text);
      const read = await fetch(`${gateway.url}/v1/responses/${reply["id"]}`, {
        headers: { "x-api-key": TEST_KEY },
      });
      assert.deepEqual(await read.json(), reply);
    }
  }));

Deno.test("a call and its output in the next request", (t) =>
  eachFamily(t, async (gateway, model) => {
    const { responses } = openaiAt(gateway.url);
    const first = await responses.create({
      model,
      input: "[[fx:tool-parallel]]",
      tools: [{
        type: "function",
        name: "get_weather",
        strict: false,
        parameters: { type: "object" },
      }],
    });
    const calls = first.output.filter((item) => item.type === "function_call");
    assert.equal(calls.length, 2);
    const nonce = `output-${model}`;
    await responses.create({
      model,
      previous_response_id: first.id,
      input: [
        ...calls.map(({ call_id }, i) => ({
          type: "function_call_output" as const,
          call_id,
          output: `${i + 18} degrees`,
        })),
        { role: "user", content: `[[fx:text#${nonce}]]` },
      ],
    });
    const sent = await sentUpstream(gateway, nonce);
    for (const part of ["18 degrees", "19 degrees", "get_weather"]) {
      assert.ok(sent.includes(part), part);
    }
  }));

Deno.test("signatures of reasoning return to the upstream that made them", (t) =>
  eachFamily(t, async (gateway, model) => {
    const { responses } = openaiAt(gateway.url);
    const first = await responses.create({ model, input: "[[fx:thinking]]" });
    const proofs = first.output.flatMap((item) =>
      item.type === "reasoning" ? item.encrypted_content ?? [] : []
    );
    const nonce = `signed-${model}`;
    await responses.create({
      model,
      previous_response_id: first.id,
      input: `[[fx:text#${nonce}]]`,
    });
    const sent = await sentUpstream(gateway, nonce);
    for (const proof of proofs) {
      const signature = proof.replace(/^gw1:(before:)?[\w-]+:/, "");
      assert.ok(sent.includes(JSON.stringify(signature)), proof);
    }
    if (model === FAMILIES[0]) assert.ok(proofs.length > 0);
  }));

Deno.test("items of a reply are referred to by their ids", () =>
  withGateway(async (gateway) => {
    const { responses } = openaiAt(gateway.url);
    const first = await responses.create({ model: MODEL, input: "Hello" });
    const [item] = first.output;
    assert.ok(item?.id !== undefined);
    const second = await responses.create({
      model: MODEL,
      input: [
        { role: "user", content: "Hello" },
        { type: "item_reference", id: item.id },
        { role: "user", content: "[[fx:text#reference]]" },
      ],
    });
    const sent = await sentUpstream(gateway, "reference");
    assert.ok(sent.includes(JSON.stringify(first.output_text)));
    // A stored input that has a reference is resolved as well.
    await responses.create({
      model: MODEL,
      previous_response_id: second.id,
      input: "[[fx:text#inherited]]",
    });
    assert.ok(
      (await sentUpstream(gateway, "inherited")).includes(
        JSON.stringify(first.output_text),
      ),
    );
    const unknown = await fault(responses.create({
      model: MODEL,
      input: [
        { role: "user", content: "Hello" },
        { type: "item_reference", id: "msg_unknown" },
      ],
    }));
    assert.equal(unknown.status, 400);
    assert.equal(unknown.param, "input[1]");
    assert.match(unknown.message, /providerOptions\.openai\.store = false/);
  }));

Deno.test("a stored reply is read, its input listed, and deleted", () =>
  withGateway(async ({ url }) => {
    const { responses } = openaiAt(url);
    const first = await responses.create({ model: MODEL, input: "one" });
    const second = await responses.create({
      model: MODEL,
      previous_response_id: first.id,
      input: [{ role: "user", content: "two" }, {
        role: "user",
        content: [{ type: "input_text", text: "three" }],
      }],
      metadata: { topic: "numbers" },
    });
    const read = await responses.retrieve(second.id);
    assert.deepEqual(read.metadata, { topic: "numbers" });
    assert.equal(read.output_text, second.output_text);

    const texts: unknown[] = [];
    const ids = new Set<string>();
    // Pages of one item: the library asks for the next with the last one's id.
    for await (
      const item of responses.inputItems.list(second.id, {
        limit: 1,
        order: "asc",
      })
    ) {
      assert.ok(item.type === "message");
      texts.push(item.content[0]);
      ids.add(String(item.id));
    }
    assert.equal(ids.size, 4);
    assert.deepEqual(texts, [
      { type: "input_text", text: "one" },
      {
        type: "output_text",
        text: first.output_text,
        annotations: [],
        logprobs: [],
      },
      { type: "input_text", text: "two" },
      { type: "input_text", text: "three" },
    ]);
    const newest = await responses.inputItems.list(second.id, { limit: 2 });
    assert.equal(newest.has_more, true);
    assert.match(JSON.stringify(newest.data[0]), /three/);

    await responses.delete(second.id);
    for (
      const gone of [
        responses.retrieve(second.id),
        responses.inputItems.list(second.id),
        responses.delete(second.id),
      ]
    ) assert.equal((await fault(gone)).status, 404);
    const refused = await fault(responses.create({
      model: MODEL,
      previous_response_id: second.id,
      input: "four",
    }));
    assert.equal(refused.code, "previous_response_not_found");
    const again = await responses.retrieve(first.id);
    assert.equal(again.id, first.id);
    // A conversation needs all of its replies.
    const third = await responses.create({
      model: MODEL,
      previous_response_id: first.id,
      input: "five",
    });
    await responses.delete(first.id);
    const broken = await fault(responses.create({
      model: MODEL,
      previous_response_id: third.id,
      input: "six",
    }));
    assert.equal(broken.code, "previous_response_not_found");
  }));

Deno.test("store: false stores nothing, and the reply says so", () =>
  withGateway(async ({ url, gateway }) => {
    const { responses } = openaiAt(url);
    const kept = await responses.create({ model: MODEL, input: "Hello" });
    for (const stream of [false, true]) {
      const asked = {
        model: MODEL,
        input: "go on",
        previous_response_id: kept.id,
        store: false,
      };
      const reply = stream
        ? await responses.stream(asked).finalResponse()
        : await responses.create(asked);
      assert.equal(isStored(reply), false);
      assert.equal(reply.previous_response_id, kept.id);
      assert.equal((await fault(responses.retrieve(reply.id))).status, 404);
    }
    assert.match(
      gateway.metrics.text(),
      /gateway_stored_replies_total\{stored="true"\} 1\n/,
    );
  }));

Deno.test("an incomplete reply is stored, a failed one is not and says so", () =>
  withGateway(async (gateway) => {
    const { responses } = openaiAt(gateway.url);
    for (const stream of [false, true]) {
      const asked = { model: MODEL, input: "[[fx:max-tokens]]" };
      const cut = stream
        ? await responses.stream(asked).finalResponse()
        : await responses.create(asked);
      assert.equal(cut.status, "incomplete");
      assert.equal((await responses.retrieve(cut.id)).status, "incomplete");
    }
    const failed = await gateway.post("/v1/responses", {
      model: MODEL,
      input: "[[fx:error-mid]]",
      stream: true,
    });
    const { reply } = readResponseStream(await failed.text());
    assert.equal(reply["status"], "failed");
    assert.equal(reply["store"], false);
    const gone = await fault(responses.retrieve(String(reply["id"])));
    assert.equal(gone.status, 404);
  }));
