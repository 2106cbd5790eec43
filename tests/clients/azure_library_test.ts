/** Libraries for Azure's convention: deployments in the path, and the header `api-key`. */
import assert from "node:assert/strict";
import { createAzure } from "@ai-sdk/azure";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { azureAt } from "../support/clients/library_clients.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
} from "../support/test_gateway.ts";

Deno.test("AzureOpenAI: chat completions and Responses, whole and streamed, of every family", async (t) => {
  await using gateway = await startTestGateway();
  const client = azureAt(gateway.url);
  for (const model of FAMILIES) {
    const messages = [{ role: "user" as const, content: "Hi" }];
    await t.step(`${model}: chat`, async () => {
      const whole = await client.chat.completions.create({ model, messages });
      assert.equal(whole.model, model);
      assert.notEqual(whole.choices[0]?.message.content ?? "", "");
      let text = "";
      for await (
        const chunk of await client.chat.completions.create({
          model,
          messages,
          stream: true,
        })
      ) text += chunk.choices[0]?.delta.content ?? "";
      assert.equal(text, whole.choices[0]?.message.content);
    });
    await t.step(`${model}: Responses`, async () => {
      const whole = await client.responses.create({ model, input: "Hi" });
      assert.equal(whole.status, "completed");
      assert.notEqual(whole.output_text, "");
      const types: string[] = [];
      for await (
        const event of await client.responses.create({
          model,
          input: "Hi",
          stream: true,
        })
      ) types.push(event.type);
      assert.equal(types.at(-1), "response.completed");
    });
  }
});

Deno.test("@ai-sdk/azure: chat and Responses, below /v1 and with deployments in the path, whole and streamed", async (t) => {
  await using gateway = await startTestGateway();
  const [model = ""] = FAMILIES;
  for (const useDeploymentBasedUrls of [false, true]) {
    const azure = createAzure({
      baseURL: `${gateway.url}/openai${useDeploymentBasedUrls ? "" : "/v1"}`,
      apiKey: TEST_KEY,
      useDeploymentBasedUrls,
    });
    for (
      const [name, asked] of [
        ["chat", azure.chat(model)],
        ["Responses", azure.responses(model)],
      ] as const
    ) {
      await t.step(
        `${name}, deployments: ${useDeploymentBasedUrls}`,
        async () => {
          const call = { model: asked, prompt: "Hi", maxRetries: 0 };
          const { text } = await generateText(call);
          assert.notEqual(text, "");
          assert.equal(await streamText(call).text, text);
        },
      );
    }
  }
});

Deno.test("the deployment in the path is the model, whatever the body names", async (t) => {
  await using gateway = await startTestGateway();
  const messages = [{ role: "user", content: "Hi" }];
  for (const body of [{ messages }, { model: "gpt-4o", messages }]) {
    await t.step(JSON.stringify(Object.keys(body)), async () => {
      const response = await gateway.post(
        "/openai/deployments/vendorb-5.5/chat/completions?api-version=2024-10-21",
        body,
      );
      assert.equal(response.status, 200);
      assert.equal((await response.json()).model, "vendorb-5.5");
    });
  }
  await t.step("an unknown one", async () => {
    const response = await gateway.post(
      "/openai/deployments/nothing/chat/completions",
      { messages },
    );
    assert.equal(response.status, 404);
    assert.equal((await response.json()).error.code, "model_not_found");
  });
});

Deno.test("Azure's address of the API without versions takes the plain library and the header api-key", async () => {
  await using gateway = await startTestGateway();
  const client = new OpenAI({
    baseURL: `${gateway.url}/openai/v1`,
    apiKey: "unused",
    defaultHeaders: { "api-key": TEST_KEY, authorization: null },
    maxRetries: 0,
  });
  const [model = ""] = FAMILIES;
  const { status } = await client.responses.create({ model, input: "Hi" });
  assert.equal(status, "completed");
  const listed = await client.models.list();
  assert.ok(listed.data.some(({ id }) => id === model));
});

Deno.test("AzureOpenAI: a wrong key is 401 in the library's form", async () => {
  await using gateway = await startTestGateway();
  const client = azureAt(gateway.url).withOptions({ apiKey: "sk-wrong" });
  await assert.rejects(
    client.chat.completions.create({
      model: "vendorb-5.5",
      messages: [{ role: "user", content: "Hi" }],
    }),
    OpenAI.AuthenticationError,
  );
});
