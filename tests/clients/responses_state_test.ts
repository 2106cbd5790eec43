/** Stored replies through the official library and real sockets, on every family. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { readResponseStream } from "../../translate/formats/responses/stream_grammar.ts";
import { eachFamily } from "../support/each_family.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";

const DAY_MS = 86_400_000;
const [MODEL = ""] = FAMILIES;

function client(url: string, apiKey = TEST_KEY): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  const gateway = await startTestGateway(options);
  try {
    await run(gateway);
  } finally {
    await gateway.close();
  }
}

/** The error that the library throws. */
async function fault(
  call: Promise<unknown>,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(() => undefined, (error) => error);
  assert.ok(error instanceof OpenAI.APIError, String(error));
  return error;
}

/** The library's types lack the field. */
function isStored(reply: object): unknown {
  return Reflect.get(reply, "store");
}

/** The JSON text of the upstream request whose prompt contains this nonce. */
async function sentUpstream(
  { replay }: TestGateway,
  nonce: string,
): Promise<string> {
  return JSON.stringify((await replay.requestLog.waitForNonce(nonce)).json);
}

/** A second key, of the same account as nothing else. */
async function otherKey({ accounts }: TestGateway): Promise<string> {
  const { admin } = accounts;
  const plan = await admin.plans.create({});
  const account = await admin.accounts.create({
    planId: plan.id,
    billing: "postpaid",
  });
  const { text = "" } = await admin.keys.issue({ accountId: account.id });
  return text;
}

Deno.test("a chain of three replies, whole and streamed", (t) =>
  eachFamily(t, async (gateway, model) => {
    for (const stream of [false, true]) {
      const { responses } = client(gateway.url);
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
    const { responses } = client(gateway.url);
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

Deno.test("items of a reply are referred to by their ids", () =>
  withGateway(async (gateway) => {
    const { responses } = client(gateway.url);
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
    const { responses } = client(url);
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

Deno.test("another key's reply does not exist", () =>
  withGateway(async (gateway) => {
    const own = client(gateway.url).responses;
    const foreign = client(gateway.url, await otherKey(gateway)).responses;
    const reply = await own.create({ model: MODEL, input: "a secret" });
    const answers = await Promise.all([
      fault(foreign.retrieve(reply.id)),
      fault(foreign.inputItems.list(reply.id)),
      fault(foreign.delete(reply.id)),
    ]);
    const unknown = await fault(own.retrieve("resp_unknown"));
    for (const answer of answers) {
      assert.equal(answer.status, 404);
      assert.equal(
        answer.message.replaceAll(reply.id, ""),
        unknown.message.replaceAll("resp_unknown", ""),
      );
    }
    const continued = await fault(foreign.create({
      model: MODEL,
      previous_response_id: reply.id,
      input: "go on",
    }));
    assert.equal(continued.status, 400);
    assert.equal(continued.param, "previous_response_id");
    const referred = await fault(foreign.create({
      model: MODEL,
      input: [{ type: "item_reference", id: reply.output[0]?.id ?? "" }],
    }));
    assert.equal(referred.param, "input[0]");
    assert.equal((await own.retrieve(reply.id)).id, reply.id);
  }));

Deno.test("a rotated key does not find the replies of the old one, and a revoked one finds nothing", () =>
  withGateway(async (gateway) => {
    const { admin } = gateway.accounts;
    const plan = await admin.plans.create({});
    const account = await admin.accounts.create({
      planId: plan.id,
      billing: "postpaid",
    });
    const old = await admin.keys.issue({ accountId: account.id });
    const withOld = client(gateway.url, old.text).responses;
    const reply = await withOld.create({ model: MODEL, input: "Hello" });
    const { text } = await admin.keys.rotate(old.record.id, 60_000);
    const withNew = client(gateway.url, text).responses;
    assert.equal((await fault(withNew.retrieve(reply.id))).status, 404);
    assert.equal((await withOld.retrieve(reply.id)).id, reply.id);
    await admin.keys.revoke(old.record.id);
    assert.equal((await fault(withOld.retrieve(reply.id))).status, 401);
  }));

Deno.test("an expired reply does not exist", async () => {
  let nowMs = Date.now();
  await withGateway(async ({ url }) => {
    const { responses } = client(url);
    const reply = await responses.create({ model: MODEL, input: "Hello" });
    nowMs += 2 * DAY_MS - 1000;
    assert.equal((await responses.retrieve(reply.id)).id, reply.id);
    nowMs += 2000;
    assert.equal((await fault(responses.retrieve(reply.id))).status, 404);
    const refused = await fault(responses.create({
      model: MODEL,
      previous_response_id: reply.id,
      input: "go on",
    }));
    assert.equal(refused.code, "previous_response_not_found");
  }, { now: () => nowMs, env: { GATEWAY_RESPONSES_DAYS: "2" } });
});

Deno.test("store: false stores nothing, and the reply says so", () =>
  withGateway(async ({ url, gateway }) => {
    const { responses } = client(url);
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

Deno.test("with storing off, replies say so, and references are refused with the remedy", () =>
  withGateway(async ({ url }) => {
    const { responses } = client(url);
    const reply = await responses.create({
      model: MODEL,
      input: "Hello",
      store: true,
    });
    assert.equal(isStored(reply), false);
    for (
      const [over, param] of [
        [{ previous_response_id: reply.id }, "previous_response_id"],
        [{ input: [{ type: "item_reference", id: "x" }] }, "input[0]"],
      ] as const
    ) {
      const refused = await fault(
        client(url).post("/responses", {
          body: { model: MODEL, input: "go on", ...over },
        }),
      );
      assert.equal(refused.status, 400);
      assert.equal(refused.param, param);
      assert.match(refused.message, /send the whole conversation in input/);
    }
    const read = await fault(responses.retrieve(reply.id));
    assert.equal(read.status, 404);
    assert.match(read.message, /replies are not stored here/);
  }, { env: { GATEWAY_STORE_RESPONSES: "off" } }));

Deno.test("an incomplete reply is stored, a failed one is not and says so", () =>
  withGateway(async (gateway) => {
    const { responses } = client(gateway.url);
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

Deno.test("what needs more than stored replies is refused by name", () =>
  withGateway(async (gateway) => {
    const { responses } = client(gateway.url);
    const first = await responses.create({ model: MODEL, input: "Hello" });
    const rows: readonly (readonly [object, string])[] = [
      [{ background: true }, "background"],
      [{ conversation: "conv_1" }, "conversation"],
      [{ prompt: { id: "p" } }, "prompt"],
      [
        { conversation: "conv_1", previous_response_id: first.id },
        "conversation",
      ],
      [{ input: [{ type: "item_reference" }] }, "input[0].id"],
      [{ input: [{ role: "king", content: "x" }] }, "input[0].role"],
      [
        {
          previous_response_id: first.id,
          input: [{ role: "user", content: [{ type: "input_text" }] }],
        },
        "input[0].content[0].text",
      ],
    ];
    for (const [over, param] of rows) {
      const response = await gateway.post("/v1/responses", {
        model: MODEL,
        input: "Hi",
        ...over,
      });
      const { error } = await response.json();
      assert.equal(response.status, 400, error.message);
      assert.equal(error.param, param);
      assert.ok(error.message.startsWith(`${param}: `), error.message);
    }
    const key = { "x-api-key": TEST_KEY };
    const read = `${gateway.url}/v1/responses/${first.id}`;
    const queries: readonly (readonly [string, string, string])[] = [
      ["GET", "?stream=true", "stream"],
      ["GET", "/input_items?limit=0", "limit"],
      ["GET", "/input_items?limit=101", "limit"],
      ["GET", "/input_items?order=up", "order"],
      ["GET", "/input_items?after=msg_x", "after"],
      ["POST", "/cancel", "background"],
    ];
    for (const [method, tail, param] of queries) {
      const response = await fetch(read + tail, { method, headers: key });
      assert.equal(response.status, 400, tail);
      assert.equal((await response.json()).error.param, param);
    }
  }));

Deno.test("an account's oldest replies go when its share is used, and a request beyond the share is not stored", () =>
  withGateway(async ({ url }) => {
    const { responses } = client(url);
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) {
      const { id } = await responses.create({ model: MODEL, input: "Hello" });
      ids.push(id);
    }
    const [first = "", , , last = ""] = ids;
    assert.equal((await fault(responses.retrieve(first))).status, 404);
    assert.equal((await responses.retrieve(last)).id, last);
    const large = await responses.create({
      model: MODEL,
      input: "x".repeat(6_000),
    });
    assert.equal(isStored(large), false);
    assert.equal((await responses.retrieve(last)).id, last);
  }, { env: { GATEWAY_RESPONSES_BYTES: "6000" } }));

Deno.test("a conversation larger than a request's body may be is refused", () =>
  withGateway(async ({ url }) => {
    const { responses } = client(url);
    const long = "x".repeat(3_000);
    const first = await responses.create({ model: MODEL, input: long });
    const second = await responses.create({
      model: MODEL,
      input: "and",
      previous_response_id: first.id,
    }).catch((error) => error);
    assert.ok(!(second instanceof Error), String(second));
    const refused = await fault(responses.create({
      model: MODEL,
      input: long,
      previous_response_id: second.id,
    }));
    assert.equal(refused.status, 413);
    assert.equal(refused.param, "previous_response_id");
  }, { env: { GATEWAY_MAX_BODY_BYTES: "6000" } }));
