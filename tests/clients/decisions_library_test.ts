/**
 * Decisions through the route of docs/routes.md: the official library of the first vendor, the wire of
 * the second, vendors on loopback, and exact charges.
 */
import assert from "node:assert/strict";
import { openaiAt } from "../support/clients/library_clients.ts";
import { chargesIn } from "../support/tables/billing.ts";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const DECISION = {
  answers: [{ type: "predicate", name: "urgent", probability: 0.93 }],
  model: "gpt-6-sol",
  usage: {
    input_tokens: 1_000,
    input_tokens_details: { cache_write_tokens: 100, cached_tokens: 600 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 1_010,
  },
};

const GEMINI_DECISION = {
  answers: { urgent: { type: "noul", probability: 0.9 } },
  usage: {
    total_input_tokens: 1_000,
    total_cached_tokens: 600,
    total_output_tokens: 10,
    total_thought_tokens: 4,
    total_tokens: 1_014,
  },
};

Deno.test("a decision is the vendor's, and each of its tokens is charged at its price", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/routes.md", import.meta.url),
  );
  const [, section = ""] = page.split("### Decisions");
  const [, configFile = ""] = /```json\n([^]*?)```/.exec(section) ?? [];
  await using host = startHostUpstream();
  host.answer(({ path }) =>
    Response.json(path === "/v1/decisions" ? DECISION : GEMINI_DECISION)
  );
  await using gateway = await startTestGateway({
    realVendors: true,
    env: {
      VENDORB_API_KEY: "key-b",
      VENDORB_BASE_URL: `${host.url}/v1`,
      VENDORC_API_KEY: "key-c",
      VENDORC_BASE_URL: host.url,
    },
    configFile,
  });
  const reply = await openaiAt(gateway.url).decisions.create({
    model: "house-decision",
    input: "The server is on fire.",
    questions: [{
      type: "predicate",
      name: "urgent",
      instructions: "Is it urgent?",
    }],
  });
  assert.deepEqual(reply.answers, DECISION.answers);
  assert.equal(reply.model, "house-decision");
  const [sent] = host.requests;
  assert.equal(sent?.path, "/v1/decisions");
  assert.equal(JSON.parse(sent.text).model, "gpt-6-sol");
  const charged = async (): Promise<number> => {
    await gateway.recorded();
    const charge = (await chargesIn(gateway)).at(-1);
    assert.equal(charge?.estimated, false);
    return -(charge?.microUsd ?? 0);
  };
  assert.equal(
    await charged(),
    (300 * 2_000_000 + 600 * 200_000 + 100 * 2_500_000 + 10 * 8_000_000) / 1e6,
  );
  const response = await gateway.post("/v1/decisions", {
    model: "models/house-decision",
    input: "The server is on fire.",
    questions: { urgent: { type: "noul", instructions: "Is it urgent?" } },
  });
  assert.deepEqual(await response.json(), GEMINI_DECISION);
  assert.equal(host.requests[1]?.path, "/v1beta/decisions");
  assert.equal(
    JSON.parse(host.requests[1].text).model,
    "models/gemini-3-flash",
  );
  assert.equal(
    await charged(),
    (400 * 500_000 + 600 * 50_000 + 14 * 3_000_000) / 1e6,
  );
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
});
