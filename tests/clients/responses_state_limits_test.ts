/** Replies that are not found, not stored or not served: keys, times, sizes and fields. */
import assert from "node:assert/strict";
import { openaiAt } from "../support/clients/library_clients.ts";
import { fault, isStored } from "../support/clients/stored_replies.ts";
import { withGateway } from "../support/with_gateway.ts";
import {
  FAMILIES,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const DAY_MS = 86_400_000;
const [MODEL = ""] = FAMILIES;

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

Deno.test("another key's reply does not exist", () =>
  withGateway(async (gateway) => {
    const own = openaiAt(gateway.url).responses;
    const foreign = openaiAt(gateway.url, await otherKey(gateway)).responses;
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
    const withOld = openaiAt(gateway.url, old.text).responses;
    const reply = await withOld.create({ model: MODEL, input: "Hello" });
    const { text } = await admin.keys.rotate(old.record.id, 60_000);
    const withNew = openaiAt(gateway.url, text).responses;
    assert.equal((await fault(withNew.retrieve(reply.id))).status, 404);
    assert.equal((await withOld.retrieve(reply.id)).id, reply.id);
    await admin.keys.revoke(old.record.id);
    assert.equal((await fault(withOld.retrieve(reply.id))).status, 401);
  }));

Deno.test("an expired reply does not exist", async () => {
  let nowMs = Date.now();
  await withGateway(async ({ url }) => {
    const { responses } = openaiAt(url);
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

Deno.test("with storing off, replies say so, and references are refused with the remedy", () =>
  withGateway(async ({ url }) => {
    const { responses } = openaiAt(url);
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
        openaiAt(url).post("/responses", {
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

Deno.test("what needs more than stored replies is refused by name", () =>
  withGateway(async (gateway) => {
    const { responses } = openaiAt(gateway.url);
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
    const { responses } = openaiAt(url);
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
    const { responses } = openaiAt(url);
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
