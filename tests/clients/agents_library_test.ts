/**
 * The Agents SDK, which calls `/v1/responses` by default, against all four model families, over
 * HTTP and through a web socket.
 */
import assert from "node:assert/strict";
import { Agent, run, setTracingDisabled, tool } from "@openai/agents-core";
import {
  OpenAIResponsesModel,
  OpenAIResponsesWSModel,
} from "@openai/agents-openai";
import { z } from "zod";
import { openaiAt } from "../support/clients/library_clients.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import type { TestGateway } from "../support/test_gateway.ts";

setTracingDisabled(true);

const TRANSPORTS = {
  http: OpenAIResponsesModel,
  "a web socket": OpenAIResponsesWSModel,
} as const;

type Transport = keyof typeof TRANSPORTS;

/** Runs a test over each transport and against each family; the connections are closed after it. */
function overEach(
  t: Deno.TestContext,
  test: (gateway: TestGateway, model: string, over: Transport) => Promise<void>,
): Promise<void> {
  return eachFamily(t, async (gateway, model) => {
    for (const over of ["http", "a web socket"] as const) {
      const before = gateway.gateway.sockets.opened;
      try {
        await test(gateway, model, over);
      } finally {
        for (const one of open.splice(0)) await one.close();
      }
      const opened = gateway.gateway.sockets.opened - before;
      assert.equal(opened > 0, over !== "http");
    }
  });
}

const open: OpenAIResponsesWSModel[] = [];

/** Through a web socket the library keeps an error's message to itself. */
const ENDED = /unsuccessful terminal state "(?:error|response\.failed)"/;

function agentFor(
  { url }: TestGateway,
  model: string,
  over: Transport,
  onCall: (city: string) => void = () => {},
): Agent {
  const caller = new TRANSPORTS[over](openaiAt(url), model);
  if (caller instanceof OpenAIResponsesWSModel) open.push(caller);
  return new Agent({
    name: "reporter",
    instructions: "Report the weather.",
    model: caller,
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
  overEach(t, async (gateway, model, over) => {
    for (const stream of [false, true]) {
      const cities: string[] = [];
      const agent = agentFor(
        gateway,
        model,
        over,
        (city) => cities.push(city),
      );
      const nonce = `${model}-${stream}-${over.length}`;
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
  overEach(t, async (gateway, model, over) => {
    const agent = agentFor(gateway, model, over);
    await assert.rejects(
      run(agent, "[[fx:error-first]]"),
      over === "http" ? /^Error: 503 .*(?:unavailable|overloaded)/ : ENDED,
    );
    const streamed = await run(agent, "[[fx:error-mid]]", { stream: true });
    await assert.rejects(async () => {
      for await (const _ of streamed);
      await streamed.completed;
    }, over === "http" ? /verloaded|error while processing/ : ENDED);
  }));
