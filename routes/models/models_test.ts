/** The client's error and the operator's log entry for a model that cannot be called. */
import assert from "node:assert/strict";
import { banner } from "../../gateway/banner.ts";
import {
  startTestGateway,
  TEST_KEY,
} from "../../tests/support/test_gateway.ts";
import { errorReply } from "../reply_schemas.ts";

const TURN = [{ role: "user", content: "Hi" }];

Deno.test("the error for an unknown model suggests the nearest one that the key may call", async (t) => {
  await using gateway = await startTestGateway();
  const { admin } = gateway.accounts;
  const plan = await admin.plans.create({ models: ["vendorb-5"] });
  const account = await admin.accounts.create({
    planId: plan.id,
    billing: "postpaid",
  });
  const { text: limitedKey = "" } = await admin.keys.issue({
    accountId: account.id,
  });
  const rows: readonly (readonly [string, string, string])[] = [
    [
      TEST_KEY,
      "vendora-opus-4.8",
      'model: there is no model "vendora-opus-4.8" on this gateway (did you mean "vendora-opus-4-8"?); GET /v1/models lists the models that this key can call',
    ],
    [
      limitedKey,
      "vendora-opus-4.8",
      'model: there is no model "vendora-opus-4.8" on this gateway; GET /v1/models lists the models that this key can call',
    ],
    [
      limitedKey,
      "vendorb5",
      'model: there is no model "vendorb5" on this gateway (did you mean "vendorb-5"?); GET /v1/models lists the models that this key can call',
    ],
  ];
  for (const [key, model, message] of rows) {
    await t.step(`${model} for ${key.slice(0, 7)}`, async () => {
      for (
        const response of [
          await gateway.post("/v1/messages", {
            model,
            max_tokens: 5,
            messages: TURN,
          }, { "x-api-key": key }),
          await gateway.post("/v1/chat/completions", {
            model,
            messages: TURN,
          }, { "x-api-key": key }),
          await fetch(`${gateway.url}/v1/models/${model}`, {
            headers: { "x-api-key": key },
          }),
        ]
      ) {
        assert.equal(response.status, 404);
        const { error } = errorReply.parse(await response.json());
        assert.equal(error.message, message);
        assert.equal(error.code, "model_not_found");
      }
    });
  }
});

Deno.test("a model whose vendor has no key is not offered, and the log names the missing setting", async () => {
  await using gateway = await startTestGateway({
    env: { VENDORA_API_KEY: "k" },
    realVendors: true,
  });
  const response = await gateway.post("/v1/chat/completions", {
    model: "vendorb-5",
    messages: TURN,
  });
  assert.equal(response.status, 404);
  const text = await response.text();
  assert.ok(!text.includes("VENDORB_API_KEY"), text);
  const { error } = errorReply.parse(JSON.parse(text));
  assert.equal(error.code, "model_not_found");
  assert.equal(
    error.message,
    'model: "vendorb-5" is not offered by this gateway; GET /v1/models lists the models that this key can call',
  );
  const entry = await gateway.logEntry(({ status }) => status === 404);
  assert.equal(
    entry.note,
    "no vendor of vendorb-5 has a key: set VENDORB_API_KEY",
  );
});

Deno.test("a model whose vendor has no key is reported as unknown to a key that may not call it", async () => {
  await using gateway = await startTestGateway({
    env: { VENDORA_API_KEY: "k" },
    realVendors: true,
  });
  const { admin } = gateway.accounts;
  const plan = await admin.plans.create({ models: ["vendora-opus-4-8"] });
  const account = await admin.accounts.create({ planId: plan.id });
  const { text: key = "" } = await admin.keys.issue({
    accountId: account.id,
  });
  const response = await fetch(`${gateway.url}/v1/models/vendorb-5`, {
    headers: { "x-api-key": key },
  });
  const { error } = errorReply.parse(await response.json());
  assert.match(
    error.message,
    /^model: there is no model "vendorb-5" on this gateway;/,
  );
});

Deno.test("the banner lists the offered models, those that are not, and the settings that enable them", async () => {
  await using gateway = await startTestGateway({
    env: {
      VENDORA_API_KEY: "k",
      VENDORD_API_KEY: "k",
    },
    configFile: JSON.stringify({
      vendors: { east: { kind: "vendorb", api_key_env: "EAST_API_KEY" } },
      models: {
        "vendorb-5": {
          candidates: [
            { vendor: "vendorb", upstream_model: "gpt-5" },
            { vendor: "east", upstream_model: "gpt-5-east" },
          ],
        },
        "house-embed": {
          vendor: "vendord",
          upstream_model: "embed",
          operations: ["embeddings"],
          free: true,
        },
      },
    }),
    realVendors: true,
  });
  const { config, models: registry } = gateway.gateway;
  const text = banner({
    config,
    baseUrl: gateway.url,
    hasConsole: true,
    isInMemory: false,
    models: registry.models,
  });
  assert.match(text, /^Models: .*, vendord-m3, house-embed$/m);
  assert.ok(!text.includes('"model": "house-embed"'), text);
  assert.ok(
    text.includes(
      "\nNot offered: vendorb-5.5 (set VENDORB_API_KEY); vendorb-5 (set VENDORB_API_KEY or EAST_API_KEY); " +
        "vendorc-3-pro, vendorc-3-flash (set VENDORC_API_KEY)\n",
    ),
    text,
  );
  assert.match(text, /^Try it, with GATEWAY_KEY set to your key:$/m);
});
