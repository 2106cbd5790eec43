/** `GET /v1/account/models`, and the page of the models. */
import assert from "node:assert/strict";
import { z } from "zod";
import { accountModelsReply } from "../../gateway/console/account_models.ts";
import { CONSECUTIVE_FAILURES } from "../../gateway/upstream/health/breaker.ts";
import { startConsole, visit, visitAs } from "../support/console/visitor.ts";
import { MODEL, PRICE, withCandidates } from "../support/with_candidates.ts";
import { bearer } from "../support/clients/bearer.ts";

const NOW_MS = Date.now();

const models = z.object({
  data: z.array(z.looseObject({
    id: z.string(),
    refusal: z.string().nullable(),
    health: z.string(),
  })),
});

Deno.test("the models of an account have prices, sizes, capabilities, health and whether the credential may call them", () =>
  withCandidates({
    model: { context_tokens: 50_000 },
    // The clock stands still, so that no pause of a breaker ends.
    now: () => NOW_MS,
  }, async (world) => {
    const { gateway, a, b } = world;
    const { admin } = gateway.accounts;
    const plan = await admin.plans.create({ models: [MODEL] });
    const { id: accountId } = await admin.accounts.create({
      planId: plan.id,
      billing: "postpaid",
    });
    const key = await admin.keys.issue({ accountId });
    const other = await admin.keys.issue({
      accountId,
      models: ["vendora-opus-4-8"],
    });
    const token = await admin.tokens.issue({ accountId, scope: "read" });
    const read = async (credential: string = token.text ?? "") => {
      const reply = await fetch(
        `${gateway.url}/v1/account/models`,
        bearer(credential),
      );
      assert.equal(reply.status, 200);
      const body: unknown = await reply.json();
      accountModelsReply.parse(body);
      const found = models.parse(body).data.find(({ id }) => id === MODEL);
      assert.ok(found !== undefined);
      return found;
    };

    assert.deepEqual(await read(), {
      object: "account.model",
      id: MODEL,
      name: MODEL,
      callable: true,
      refusal: null,
      health: "well",
      price_micro_usd: PRICE,
      rates: PRICE,
      operations: ["generation"],
      context_tokens: 50_000,
      max_output_tokens: null,
      capabilities: {
        reasoning: true,
        efforts: [],
        structured_output: true,
        prefill: true,
        media_urls: true,
        parallel_tools: true,
      },
    });
    assert.equal((await read(key.text)).refusal, null);
    assert.equal((await read(other.text)).refusal, "model_not_in_key");

    // Real failures open the first breaker; the second upstream still replies.
    const fail = async (): Promise<void> => {
      for (let i = 0; i < CONSECUTIVE_FAILURES; i++) {
        const reply = await world.ask({
          headers: { "x-api-key": key.text ?? "" },
        });
        await reply.body?.cancel();
      }
    };
    a.play([], { status: 500 });
    await fail();
    assert.equal((await read()).health, "degraded");
    b.play([], { status: 500 });
    await fail();
    assert.equal((await read()).health, "away");
    const visitor = await visit(gateway.url, "read", token.text ?? "");
    const page = await visitor.read("/console/models");
    assert.match(page, /<span class="tag bad">away<\/span>/);
    for (const secret of ["model-a", "model-b", a.url, b.url]) {
      assert.ok(!page.includes(secret), secret);
      assert.ok(!JSON.stringify(await read()).includes(secret), secret);
    }

    await admin.plans.update(plan.id, { models: ["vendora-opus-4-8"] });
    assert.equal((await read()).refusal, "model_not_in_plan");
    await admin.accounts.update(accountId, { status: "disabled" });
    assert.equal((await read()).refusal, "account_disabled");
  }));

Deno.test("the page of a model says what it takes; that of operators, of each candidate", async () => {
  await using gateway = await startConsole({
    configFile: JSON.stringify({
      models: {
        "house/model": {
          price: { input: 1_000_000, output: 2_000_000 },
          candidates: [
            { vendor: "vendorb", upstream_model: "first" },
            {
              vendor: "vendora",
              upstream_model: "second",
              capabilities: { topK: false, maxOutputTokens: 64_000 },
            },
          ],
        },
      },
    }),
  });
  const path = `models/${encodeURIComponent("house/model")}`;
  const row = (html: string, name: string): readonly string[] =>
    (html.split(`>${name}</th>`)[1]?.split("</tr>")[0] ?? "").split("<td")
      .slice(1).map((cell) => cell.replace(/^[^>]*>/, "").split("<")[0] ?? "");
  const owner = await visitAs(gateway, "read");
  assert.match(await owner.read("/console/models"), new RegExp(`/${path}"`));
  const own = await owner.read(`/console/${path}`);
  assert.doesNotMatch(own, /vendor[ab]\/|\bsecond\b/);
  assert.deepEqual(row(own, "Seed"), ["yes"]);
  assert.deepEqual(row(own, "Stop texts"), ["at most 4"]);
  const operators = await (await visitAs(gateway, "operator"))
    .read(`/console/operator/${path}`);
  assert.deepEqual(row(operators, "Seed"), ["yes", "no"]);
  assert.deepEqual(row(operators, "top_k"), ["no", "no"]);
  assert.deepEqual(row(operators, "Longest reply"), [
    "not known",
    "64,000 tokens",
  ]);
  const none = await owner.get("/console/models/none");
  await none.body?.cancel();
  assert.equal(none.status, 404);
});
