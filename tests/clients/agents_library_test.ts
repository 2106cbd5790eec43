/** The Agents SDK, which calls `/v1/responses` by default, against all four model families. */
import assert from "node:assert/strict";
import { Agent, run, setTracingDisabled, tool } from "@openai/agents-core";
import { OpenAIResponsesModel } from "@openai/agents-openai";
import OpenAI from "openai";
import { z } from "zod";
import { eachFamily } from "../support/each_family.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";

setTracingDisabled(true);

function agentFor(
  { url }: TestGateway,
  model: string,
  onCall: (city: string) => void = () => {},
): Agent {
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: TEST_KEY,
    maxRetries: 0,
  });
  return new Agent({
    name: "reporter",
    instructions: "Report the weather.",
    model: new OpenAIResponsesModel(client, model),
    tools: [
      tool({
        name: "get_weather",
        description: "Weather of a city",
        parameters: z.object({ city: z.string() }),
        execute({ city }) {
          onCall(city);
          return `It rains in ${city}.`;
        },
      }),
    ],
  });
}

Deno.test("the Agents SDK runs a tool and ends with a text, whole and streamed", (t) =>
  eachFamily(t, async (gateway, model) => {
    for (const stream of [false, true]) {
      const cities: string[] = [];
      const agent = agentFor(gateway, model, (city) => cities.push(city));
      const nonce = `${model}-${stream}`;
      const text = `Weather? [[fx:tool#${nonce}]]`;
      const result = stream
        ? await run(agent, text, { stream: true })
        : await run(agent, text);
      if ("completed" in result) {
        for await (const _ of result);
        await result.completed;
      }
      assert.deepEqual(cities, ["Paris"]);
      assert.match(String(result.finalOutput), /It rains in Paris/);
    }
  }));

Deno.test("the Agents SDK throws the upstream's error, whole and inside a stream", (t) =>
  eachFamily(t, async (gateway, model) => {
    const agent = agentFor(gateway, model);
    await assert.rejects(
      run(agent, "[[fx:error-first]]"),
      /^Error: 503 .*(?:unavailable|overloaded)/,
    );
    const streamed = await run(agent, "[[fx:error-mid]]", { stream: true });
    await assert.rejects(async () => {
      for await (const _ of streamed);
      await streamed.completed;
    }, /verloaded|error while processing/);
  }));
