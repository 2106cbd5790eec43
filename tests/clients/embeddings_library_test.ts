/**
 * The official library of the chat format asks for embeddings. Its default is base64, which it
 * decodes itself.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { withOpenai } from "../support/clients/library_clients.ts";

const PRICE = { input: 20_000_000 };
const CONFIG = JSON.stringify({
  models: {
    "embed-chat": {
      vendor: "vendorb",
      upstream_model: "text-embedding-3-small",
      operations: ["embeddings"],
      price: PRICE,
    },
    "embed-generate": {
      vendor: "vendorc",
      upstream_model: "gemini-embedding-001",
      operations: ["embeddings"],
      price: PRICE,
    },
    "embed-nowhere": {
      vendor: "vendora",
      upstream_model: "claude-embed",
      operations: ["embeddings"],
      price: PRICE,
    },
    "embed-twice": {
      operations: ["embeddings"],
      price: PRICE,
      candidates: [
        {
          vendor: "vendorb",
          upstream_model: "marked",
          vector_space: "small-3",
        },
        {
          vendor: "vendorc",
          upstream_model: "fallback",
          vector_space: "small-3",
          priority: 2,
        },
      ],
    },
  },
});

for (const model of ["embed-chat", "embed-generate"]) {
  Deno.test(`${model}: the library's default and floats give the same vectors`, () =>
    withOpenai(CONFIG, async (client) => {
      const input = ["one text", "another"];
      const byDefault = await client.embeddings.create({ model, input });
      const floats = await client.embeddings.create({
        model,
        input,
        encoding_format: "float",
      });
      assert.equal(byDefault.model, model);
      assert.equal(byDefault.data.length, 2);
      const single = Float32Array.from(floats.data[1]?.embedding ?? []);
      assert.deepEqual(
        Float32Array.from(byDefault.data[1]?.embedding ?? []),
        single,
      );
      assert.notDeepEqual(byDefault.data[0]?.embedding, [...single]);
      assert.ok(byDefault.usage.prompt_tokens > 0);
    }));

  Deno.test(`${model}: the length of the vectors`, () =>
    withOpenai(CONFIG, async (client) => {
      const { data } = await client.embeddings.create({
        model,
        input: "a",
        dimensions: 8,
      });
      assert.equal(data[0]?.embedding.length, 8);
    }));
}

Deno.test("tokens reach an upstream of the chat format; another one refuses them by name", () =>
  withOpenai(CONFIG, async (client) => {
    const { usage } = await client.embeddings.create({
      model: "embed-chat",
      input: [[1, 2, 3], [4]],
    });
    assert.equal(usage.prompt_tokens, 4);
    await assert.rejects(
      client.embeddings.create({ model: "embed-generate", input: [1, 2] }),
      (error) =>
        error instanceof OpenAI.BadRequestError && error.param === "input",
    );
  }));

Deno.test("a call is charged by its prompt alone, estimated where the upstream reports nothing", () =>
  withOpenai(CONFIG, async (client, server) => {
    const input = "twelve bytes";
    await client.embeddings.create({ model: "embed-chat", input });
    const reported = await server.logEntry(({ model }) =>
      model === "embed-chat"
    );
    assert.equal(reported.cost_micro_usd, 3 * 20);
    assert.deepEqual(reported.usage, { input: 3, output: 0 });
    assert.equal(reported.endpoint, "/v1/embeddings");
    const { response } = await client.embeddings.create({
      model: "embed-generate",
      input,
      user: "person",
    }).withResponse();
    assert.equal(response.headers.get("x-gateway-dropped"), "user");
    const estimated = await server.logEntry(({ model }) =>
      model === "embed-generate"
    );
    assert.equal(estimated.cost_micro_usd, 3 * 20);
    assert.deepEqual(estimated.usage, { output: 0 });
  }));

Deno.test("a model is called for what it does", () =>
  withOpenai(CONFIG, async (client) => {
    const refused = (call: Promise<unknown>, text: RegExp) =>
      assert.rejects(call, (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.equal(error.code, "unsupported_operation");
        assert.match(error.message, text);
        return true;
      });
    await refused(
      client.chat.completions.create({
        model: "embed-chat",
        messages: [{ role: "user", content: "hi" }],
      }),
      /makes embeddings: call it at POST \/v1\/embeddings/,
    );
    await refused(
      client.embeddings.create({ model: "vendorb-5.5", input: "hi" }),
      /generates replies/,
    );
    await refused(
      client.embeddings.create({ model: "embed-nowhere", input: "hi" }),
      /no upstream of embed-nowhere makes embeddings/,
    );
    const listed = new Map(
      (await client.models.list()).data.map((
        one,
      ) => [one.id, JSON.parse(JSON.stringify(one)).operations]),
    );
    assert.deepEqual(listed.get("embed-chat"), ["embeddings"]);
    assert.deepEqual(listed.get("vendorb-5.5"), ["generation"]);
  }));

Deno.test("an upstream that fails is replaced by one of the same vector space", () =>
  withOpenai(CONFIG, async (client, server) => {
    const { data } = await client.embeddings.create({
      model: "embed-twice",
      input: "[[fx:recover#embed]]",
      encoding_format: "float",
    });
    assert.equal(data.length, 1);
    const entry = await server.logEntry(({ model }) => model === "embed-twice");
    assert.equal(entry.upstream, "vendorc/fallback");
    assert.equal(entry.tried?.[0]?.upstream, "vendorb/marked");
  }));
