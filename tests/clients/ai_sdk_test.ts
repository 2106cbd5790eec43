/**
 * The AI SDK with its defaults through real sockets: from the second turn on it refers to earlier
 * replies and reasoning by the ids of their items.
 */
import assert from "node:assert/strict";
import { createOpenAI, type OpenAIProvider } from "@ai-sdk/openai";
import {
  generateText,
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { eachFamily } from "../support/tables/each_family.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
} from "../support/test_gateway.ts";

interface Sdk {
  readonly openai: OpenAIProvider;
  readonly sent: string[];
}

function sdk(url: string): Sdk {
  const sent: string[] = [];
  const openai = createOpenAI({
    baseURL: `${url}/v1`,
    apiKey: TEST_KEY,
    fetch: (input, init) => {
      sent.push(String(init?.body));
      return fetch(input, init);
    },
  });
  return { openai, sent };
}

Deno.test("the default model over three turns, whole and streamed", (t) =>
  eachFamily(t, async (gateway, model) => {
    for (const how of ["whole", "streamed"]) {
      const { openai, sent } = sdk(gateway.url);
      const messages: ModelMessage[] = [];
      const turn = async (content: string): Promise<string> => {
        messages.push({ role: "user", content });
        const asked = { model: openai(model), messages, maxRetries: 0 };
        const reply = how === "whole"
          ? await generateText(asked)
          : streamText(asked);
        const { messages: made } = await reply.response;
        messages.push(...made);
        return await reply.text;
      };
      const first = await turn("[[fx:thinking]]");
      assert.notEqual(first, "");
      await turn("and then?");
      const nonce = `sdk-${model}-${how}`;
      assert.notEqual(await turn(`[[fx:text#${nonce}]]`), "");
      assert.match(sent[1] ?? "", /"item_reference"/);
      assert.ok(!sent[1]?.includes(first), "the reply was sent whole");
      const { json } = await gateway.replay.requestLog.waitForNonce(nonce);
      assert.ok(JSON.stringify(json).includes(JSON.stringify(first)));
    }
  }));

Deno.test("calls of tools, and a turn after them", (t) =>
  eachFamily(t, async (gateway, model) => {
    const { openai } = sdk(gateway.url);
    const messages: ModelMessage[] = [
      { role: "user", content: "[[fx:tool-parallel]]" },
    ];
    const cities: string[] = [];
    const tools = {
      get_weather: tool({
        description: "Weather of a city",
        inputSchema: jsonSchema<{ city: string }>({
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        }),
        execute: ({ city }) => {
          cities.push(city);
          return `18 degrees in ${city}`;
        },
      }),
    };
    const asked = { model: openai(model), messages, tools, maxRetries: 0 };
    const called = await generateText(asked);
    assert.deepEqual(cities, ["Paris", "Tokyo"]);
    messages.push(...called.response.messages);
    const nonce = `loop-${model}`;
    messages.push({ role: "user", content: `[[fx:text#${nonce}]]` });
    const { text } = await generateText({ ...asked, stopWhen: stepCountIs(3) });
    assert.notEqual(text, "");
    const { json } = await gateway.replay.requestLog.waitForNonce(nonce);
    assert.match(JSON.stringify(json), /18 degrees in Tokyo/);
  }));

Deno.test("previousResponseId continues a reply", async () => {
  await using gateway = await startTestGateway();
  const { openai } = sdk(gateway.url);
  const model = openai(FAMILIES[0] ?? "");
  const first = await generateText({ model, prompt: "my name is Ada" });
  const previousResponseId = String(
    first.providerMetadata?.["openai"]?.["responseId"],
  );
  await generateText({
    model,
    prompt: "[[fx:text#continued]]",
    providerOptions: { openai: { previousResponseId } },
  });
  const { json } = await gateway.replay.requestLog.waitForNonce("continued");
  assert.match(JSON.stringify(json), /my name is Ada/);
});
