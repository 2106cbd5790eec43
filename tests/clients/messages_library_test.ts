/**
 * The official client library of the messages format against all four model families, over real
 * sockets.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { anthropicAt } from "../support/clients/library_clients.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { FAMILIES, startTestGateway } from "../support/test_gateway.ts";

const TOOLS: Anthropic.Tool[] = [{
  name: "get_weather",
  description: "Weather of a city",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
}];

function ask(
  model: string,
  text: string,
): Anthropic.MessageCreateParamsNonStreaming {
  return {
    model,
    max_tokens: 200,
    messages: [{ role: "user", content: text }],
  };
}

function toolInputs(message: Anthropic.Message): unknown[] {
  return message.content.flatMap((block) =>
    block.type === "tool_use" ? [{ name: block.name, input: block.input }] : []
  );
}

Deno.test("a whole message", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const message = await anthropicAt(url).messages.create(
      ask(model, "Hello there"),
    );
    assert.equal(message.type, "message");
    assert.equal(message.role, "assistant");
    assert.equal(message.model, model);
    assert.match(message.id, /^msg_/);
    assert.equal(message.stop_reason, "end_turn");
    const [block] = message.content;
    assert.ok(block?.type === "text" && block.text.length > 0);
    assert.ok(
      message.usage.input_tokens > 0 && message.usage.output_tokens > 0,
    );
  }));

Deno.test("a streamed message adds up to the whole one", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const whole = await anthropicAt(url).messages.create(
      ask(model, "[[fx:text]]"),
    );
    const stream = anthropicAt(url).messages.stream(ask(model, "[[fx:text]]"));
    let seen = "";
    stream.on("text", (delta) => seen += delta);
    const streamed = await stream.finalMessage();
    const textOf = (message: Anthropic.Message) =>
      message.content.map((block) => block.type === "text" ? block.text : "")
        .join("");
    assert.equal(seen, textOf(whole));
    assert.equal(textOf(streamed), textOf(whole));
    assert.equal(streamed.stop_reason, whole.stop_reason);
    assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
    assert.equal(streamed.usage.input_tokens, whole.usage.input_tokens);
  }));

Deno.test("parallel tool calls, and their results on the next turn", (t) =>
  eachFamily(t, async ({ url, replay }, model) => {
    const wanted = [
      { name: "get_weather", input: { city: "Paris" } },
      { name: "get_weather", input: { city: "Tokyo" } },
    ];
    const params = { ...ask(model, "[[fx:tool-parallel]]"), tools: TOOLS };
    const whole = await anthropicAt(url).messages.create(params);
    assert.equal(whole.stop_reason, "tool_use");
    assert.deepEqual(toolInputs(whole), wanted);
    const streamed = await anthropicAt(url).messages.stream(params)
      .finalMessage();
    assert.deepEqual(toolInputs(streamed), wanted);
    const ids = streamed.content.flatMap((block) =>
      block.type === "tool_use" ? [block.id] : []
    );
    assert.equal(new Set(ids).size, 2);

    const nonce = `results-${model}`;
    const answer = await anthropicAt(url).messages.create({
      ...params,
      messages: [
        ...params.messages,
        { role: "assistant", content: streamed.content },
        {
          role: "user",
          content: [
            ...ids.map((id, i) => ({
              type: "tool_result" as const,
              tool_use_id: id,
              content: i === 0
                ? "18 degrees"
                : [{ type: "text" as const, text: "no such city" }],
              is_error: i === 1,
            })),
            { type: "text", text: `[[fx:text#${nonce}]]` },
          ],
        },
      ],
    });
    assert.equal(answer.stop_reason, "end_turn");
    const sent = JSON.stringify(
      (await replay.requestLog.waitForNonce(nonce)).json,
    );
    assert.match(sent, /18 degrees/);
    assert.match(sent, /no such city/);
  }));

Deno.test("a forced tool without a fixture", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const message = await anthropicAt(url).messages.create({
      ...ask(model, "What is the weather?"),
      tools: TOOLS,
      tool_choice: { type: "tool", name: "get_weather" },
    });
    const [call] = toolInputs(message);
    assert.equal(
      typeof (call as { input: { city: unknown } }).input.city,
      "string",
    );
  }));

Deno.test("models and token counts", async () => {
  await using gateway = await startTestGateway();
  const library = anthropicAt(gateway.url);
  const ids: string[] = [];
  for await (const model of library.models.list({ limit: 3 })) {
    ids.push(model.id);
  }
  assert.equal(ids.length, 10);
  assert.equal(
    (await library.models.retrieve("vendorb-5")).display_name,
    "Vendor B 5",
  );
  for (const model of FAMILIES) {
    const counted = await library.messages.countTokens({
      model,
      messages: [{ role: "user", content: "Hello there" }],
    });
    assert.ok(counted.input_tokens > 0, model);
  }
});
