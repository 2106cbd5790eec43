/** The official library's Responses calls against all four families, through real sockets. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodTextFormat } from "../packages/openai_zod.ts";
import { z } from "zod";
import { readResponseStream } from "../../translate/formats/responses/stream_grammar.ts";
import { openaiAt } from "../support/clients/library_clients.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { FAMILIES, startTestGateway } from "../support/test_gateway.ts";

const TOOLS: OpenAI.Responses.FunctionTool[] = [{
  type: "function",
  name: "get_weather",
  description: "Weather of a city",
  strict: false,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
}];

type FunctionCall = OpenAI.Responses.ResponseFunctionToolCall;

function callsOf(response: OpenAI.Responses.Response): FunctionCall[] {
  return response.output.filter((item) => item.type === "function_call");
}

function summary(calls: readonly FunctionCall[]): unknown[] {
  return calls.map((call) => ({
    name: call.name,
    arguments: JSON.parse(call.arguments),
  }));
}

Deno.test("a whole response", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const response = await openaiAt(url).responses.create({
      model,
      input: "Hello there",
    });
    assert.equal(response.object, "response");
    assert.equal(response.status, "completed");
    assert.equal(response.model, model);
    assert.match(response.id, /^resp_/);
    assert.ok(response.output_text.length > 0);
    const { usage } = response;
    assert.ok(usage !== undefined && usage.input_tokens > 0);
    assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
    const { completed_at: completedAt } = response;
    assert.ok(Number.isInteger(completedAt));
    assert.ok(Number(completedAt) >= response.created_at);
    const stored = await openaiAt(url).responses.retrieve(response.id);
    assert.equal(stored.completed_at, completedAt);
  }));

Deno.test("a streamed response follows the grammar and adds up to the whole one", (t) =>
  eachFamily(t, async (gateway, model) => {
    const asked = { model, input: "[[fx:text]]" };
    const whole = await openaiAt(gateway.url).responses.create(asked);
    const kinds = new Set<string>();
    const stream = openaiAt(gateway.url).responses.stream(asked);
    for await (const event of stream) kinds.add(event.type);
    const streamed = await stream.finalResponse();
    assert.equal(streamed.output_text, whole.output_text);
    assert.deepEqual(streamed.usage, whole.usage);
    assert.equal(streamed.status, "completed");
    assert.ok(kinds.has("response.output_text.delta"));
    const raw = await gateway.post("/v1/responses", { ...asked, stream: true });
    const { reply, types } = readResponseStream(await raw.text());
    assert.equal(reply["status"], "completed");
    assert.equal(types.at(-1), "completed");
  }));

Deno.test("parallel calls, and their outputs on the next turn", (t) =>
  eachFamily(t, async ({ url, replay }, model) => {
    const wanted = [
      { name: "get_weather", arguments: { city: "Paris" } },
      { name: "get_weather", arguments: { city: "Tokyo" } },
    ];
    const asked = {
      model,
      input: "[[fx:tool-parallel]]",
      tools: TOOLS,
      store: false,
    };
    const whole = await openaiAt(url).responses.create(asked);
    assert.deepEqual(summary(callsOf(whole)), wanted);
    const streamed = await openaiAt(url).responses.stream(asked)
      .finalResponse();
    const calls = callsOf(streamed);
    assert.deepEqual(summary(calls), wanted);
    assert.equal(new Set(calls.map((call) => call.call_id)).size, 2);

    const nonce = `outputs-${model}`;
    const answer = await openaiAt(url).responses.create({
      ...asked,
      input: [
        { role: "user", content: asked.input },
        // The library types items of a reply more loosely than items of a request.
        ...streamed.output as OpenAI.Responses.ResponseInputItem[],
        ...calls.map((call, i) => ({
          type: "function_call_output" as const,
          call_id: call.call_id,
          output: i === 0 ? "18 degrees" : "rain",
        })),
        { role: "user", content: `[[fx:text#${nonce}]]` },
      ],
    });
    assert.equal(answer.status, "completed");
    const sent = JSON.stringify(
      (await replay.requestLog.waitForNonce(nonce)).json,
    );
    assert.match(sent, /18 degrees/);
    assert.match(sent, /rain/);
  }));

Deno.test("a forced tool and a parsed schema", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const forced = await openaiAt(url).responses.create({
      model,
      input: "What is the weather?",
      tools: TOOLS,
      tool_choice: { type: "function", name: "get_weather" },
    });
    const [call] = callsOf(forced);
    assert.equal(typeof JSON.parse(call?.arguments ?? "").city, "string");
    const bound = await openaiAt(url).responses.parse({
      model,
      input: "Name a city",
      text: { format: zodTextFormat(z.object({ city: z.string() }), "city") },
    });
    assert.equal(typeof bound.output_parsed?.city, "string");
  }));

Deno.test("reasoning arrives as summaries", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const response = await openaiAt(url).responses.create({
      model,
      input: "[[fx:thinking]]",
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      store: false,
    });
    const reasoning = response.output.find(({ type }) => type === "reasoning");
    assert.ok(reasoning?.type === "reasoning", JSON.stringify(response.output));
    assert.notEqual(reasoning.summary[0]?.text ?? "", "");
  }));

Deno.test("a reply that is cut short reports why", (t) =>
  eachFamily(t, async ({ url }, model) => {
    for (const stream of [false, true]) {
      const asked = { model, input: "[[fx:max-tokens]]" };
      const response = stream
        ? await openaiAt(url).responses.stream(asked).finalResponse()
        : await openaiAt(url).responses.create(asked);
      assert.equal(response.status, "incomplete", model);
      assert.equal(response.incomplete_details?.reason, "max_output_tokens");
    }
  }));

Deno.test("a failed stream reports its error twice and keeps the content so far", (t) =>
  eachFamily(t, async (gateway, model) => {
    const response = await gateway.post("/v1/responses", {
      model,
      input: "[[fx:error-mid]]",
      stream: true,
    });
    const { ending, reply } = readResponseStream(await response.text());
    assert.equal(ending, "failed");
    assert.match(JSON.stringify(reply["output"]), /"status":"incomplete"/);
  }));

Deno.test("a dropped field is named, and refused if the client requests that", async (t) => {
  await using gateway = await startTestGateway();
  const ask = (model: string, headers: Record<string, string>) =>
    gateway.post("/v1/responses", {
      model,
      input: "Hello",
      tools: [...TOOLS, { type: "web_search" }],
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "k",
    }, headers);
  for (const model of FAMILIES) {
    await t.step(model, async () => {
      const dropped = await ask(model, {});
      await dropped.body?.cancel();
      assert.equal(
        dropped.headers.get("x-gateway-dropped"),
        "tools[1]:web_search",
      );
      const strict = await ask(model, { "x-gateway-strict": "true" });
      assert.equal(strict.status, 400);
      assert.equal((await strict.json()).error.param, "tools[1]");
    });
  }
});

Deno.test("the endpoint refuses unsupported features in its own format", async () => {
  await using gateway = await startTestGateway();
  const [model] = FAMILIES;
  const rows: readonly (readonly [object, number, string | null])[] = [
    [{ previous_response_id: "resp_1" }, 400, "previous_response_id"],
    [{ background: true }, 400, "background"],
    [{ conversation: "c" }, 400, "conversation"],
    [{ prompt: { id: "p" } }, 400, "prompt"],
    [{ input: [{ type: "item_reference", id: "x" }] }, 400, "input[0]"],
    [{ tools: [{ type: "web_search" }] }, 400, "tools[0]"],
    [{ model: "unknown-1" }, 404, "model"],
  ];
  for (const [over, status, param] of rows) {
    const response = await gateway.post("/v1/responses", {
      model,
      input: "Hi",
      ...over,
    });
    assert.equal(response.status, status);
    assert.equal((await response.json()).error.param, param);
  }
});
