/**
 * Client libraries of the Responses format receive ten keep-alive frames in the middle of a stream,
 * from every model family, and still assemble the reply.
 */
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { OpenAIResponsesModel } from "@openai/agents-openai";
import { streamText } from "ai";
import OpenAI from "openai";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
} from "../support/test_gateway.ts";

setTracingDisabled(true);

const KEEP_ALIVES = 10;
const TEXT = "Hello! The quick brown fox jumps over the lazy dog.";

type Fetch = typeof globalThis.fetch;

interface Connection {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: Fetch;
}

/** Each library: the text of its streamed reply. */
const LIBRARIES: Readonly<
  Record<
    string,
    (to: Connection, model: string, input: string) => Promise<string>
  >
> = {
  async openai(to, model, input) {
    const client = new OpenAI({ ...to, maxRetries: 0 });
    const stream = client.responses.stream({ model, input });
    return (await stream.finalResponse()).output_text;
  },
  async "AI SDK"(to, model, prompt) {
    const openai = createOpenAI(to);
    return await streamText({ model: openai(model), prompt, maxRetries: 0 })
      .text;
  },
  async "Agents SDK"(to, model, input) {
    const client = new OpenAI({ ...to, maxRetries: 0 });
    const agent = new Agent({
      name: "reporter",
      model: new OpenAIResponsesModel(client, model),
    });
    const result = await run(agent, input, { stream: true });
    await result.completed;
    return String(result.finalOutput);
  },
  async LangChain({ apiKey, ...configuration }, model, input) {
    const chat = new ChatOpenAI({
      model,
      useResponsesApi: true,
      apiKey,
      maxRetries: 0,
      configuration,
    });
    let text = "";
    for await (const chunk of await chat.stream(input)) text += chunk.text;
    return text;
  },
};

/** A `fetch` that calls `enough` when a reply has brought the keep-alive frames. */
function counting(enough: () => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    let seen = "";
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += new TextDecoder().decode(chunk);
        const count = seen.split("event: keepalive\n").length - 1;
        if (count >= KEEP_ALIVES) enough();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(watch) ?? null, response);
  };
}

for (const [library, streamed] of Object.entries(LIBRARIES)) {
  Deno.test(`${library} survives keep-alive frames in a stream`, async (t) => {
    await using gateway = await startTestGateway({
      env: { GATEWAY_PING_SECONDS: "0.01" },
    });
    for (const model of FAMILIES) {
      await t.step(model, async () => {
        const gate = crypto.randomUUID();
        let isEnough = false;
        const connection = {
          baseURL: `${gateway.url}/v1`,
          apiKey: TEST_KEY,
          fetch: counting(() => {
            isEnough = true;
            gateway.replay.openGate(gate);
          }),
        };
        const input = `[[fx:text?gate=${gate}&at=1]]`;
        assert.equal(await streamed(connection, model, input), TEXT);
        assert.ok(isEnough);
      });
    }
  });
}
