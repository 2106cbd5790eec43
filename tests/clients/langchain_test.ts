/** LangChain's chat model through real sockets: `/v1/chat/completions` and `/v1/responses`. */
import assert from "node:assert/strict";
import { ChatOpenAI } from "@langchain/openai";
import { objectOr } from "../../translate/bytes/json.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const ENDPOINTS = [
  ["chat completions, the default", false],
  ["Responses", true],
] as const;

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
};

function outputTokens(reply: { readonly usage_metadata?: unknown }): unknown {
  return objectOr(reply.usage_metadata)["output_tokens"];
}

function chatModel(
  url: string,
  model: string,
  useResponsesApi: boolean,
): ChatOpenAI {
  return new ChatOpenAI({
    model,
    useResponsesApi,
    apiKey: TEST_KEY,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
}

for (const [endpoint, useResponsesApi] of ENDPOINTS) {
  Deno.test(`LangChain (${endpoint}): a text, whole and streamed, with its usage`, (t) =>
    eachFamily(t, async ({ url }, model) => {
      const chat = chatModel(url, model, useResponsesApi);
      const whole = await chat.invoke("[[fx:text]]");
      assert.match(whole.text, /quick brown fox/);
      assert.equal(outputTokens(whole), 12);
      let streamed: typeof whole | undefined;
      for await (const chunk of await chat.stream("[[fx:text]]")) {
        streamed = streamed === undefined ? chunk : streamed.concat(chunk);
      }
      assert.equal(streamed?.text, whole.text);
      assert.equal(outputTokens(streamed ?? {}), 12);
    }));

  Deno.test(`LangChain (${endpoint}): calls of tools, whole and streamed, and their results`, (t) =>
    eachFamily(t, async (gateway, model) => {
      const chat = chatModel(gateway.url, model, useResponsesApi)
        .bindTools([WEATHER]);
      const asked = { role: "user", content: "[[fx:tool-parallel]]" };
      let streamed: Awaited<ReturnType<typeof chat.invoke>> | undefined;
      for await (const chunk of await chat.stream([asked])) {
        streamed = streamed === undefined ? chunk : streamed.concat(chunk);
      }
      for (const reply of [await chat.invoke([asked]), streamed]) {
        assert.ok(reply !== undefined);
        const calls = reply.tool_calls ?? [];
        assert.deepEqual(
          calls.map(({ name, args }) => [name, args]),
          [["get_weather", { city: "Paris" }], ["get_weather", {
            city: "Tokyo",
          }]],
        );
        const nonce = crypto.randomUUID();
        const next = await chat.invoke([
          asked,
          reply,
          ...calls.map(({ id, args }) => ({
            role: "tool",
            tool_call_id: id ?? "",
            content: `18 degrees in ${args["city"]}`,
          })),
          { role: "user", content: `[[fx:text#${nonce}]]` },
        ]);
        assert.match(next.text, /quick brown fox/);
        const { json } = await gateway.replay.requestLog.waitForNonce(nonce);
        assert.match(JSON.stringify(json), /18 degrees in Tokyo/);
      }
    }));

  Deno.test(`LangChain (${endpoint}): output in a schema`, (t) =>
    eachFamily(t, async ({ url }, model) => {
      const chat = chatModel(url, model, useResponsesApi)
        .withStructuredOutput({
          title: "trip",
          type: "object",
          properties: { city: { type: "string" }, days: { type: "integer" } },
          required: ["city", "days"],
          additionalProperties: false,
        });
      const trip = await chat.invoke("A trip to Paris");
      assert.equal(typeof trip["city"], "string");
      assert.ok(Number.isInteger(trip["days"]));
    }));

  Deno.test(`LangChain (${endpoint}): the upstream's error is thrown, before and inside a stream`, (t) =>
    eachFamily(t, async ({ url }, model) => {
      const chat = chatModel(url, model, useResponsesApi);
      const drained = async (fixture: string): Promise<void> => {
        for await (const _ of await chat.stream(`[[fx:${fixture}]]`));
      };
      await assert.rejects(chat.invoke("[[fx:status?code=400]]"), {
        status: 400,
      });
      await assert.rejects(drained("status?code=400"), { status: 400 });
      await assert.rejects(drained("cut"), /upstream/);
    }));
}
