/**
 * The official client library of the chat format against all four model families, over real
 * sockets.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { openaiAt } from "../support/clients/library_clients.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const TOOLS: OpenAI.ChatCompletionTool[] = [{
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
}];

function ask(
  model: string,
  text: string,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return { model, messages: [{ role: "user", content: text }] };
}

function calls(message: OpenAI.ChatCompletionMessage | undefined): unknown[] {
  return (message?.tool_calls ?? []).map((call) =>
    call.type === "function"
      ? {
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments),
      }
      : call
  );
}

Deno.test("a whole completion", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const completion = await openaiAt(url).chat.completions.create(
      ask(model, "Hello there"),
    );
    assert.equal(completion.object, "chat.completion");
    assert.equal(completion.model, model);
    assert.match(completion.id, /^chatcmpl-/);
    const [choice] = completion.choices;
    assert.equal(choice?.finish_reason, "stop");
    assert.equal(choice?.message.role, "assistant");
    assert.ok((choice?.message.content ?? "").length > 0);
    const usage = completion.usage;
    assert.ok(
      usage !== undefined && usage.prompt_tokens > 0 &&
        usage.completion_tokens > 0,
    );
    assert.equal(
      usage.total_tokens,
      usage.prompt_tokens + usage.completion_tokens,
    );
  }));

Deno.test("a streamed completion adds up to the whole one", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const whole = await openaiAt(url).chat.completions.create(
      ask(model, "[[fx:text]]"),
    );
    const runner = openaiAt(url).chat.completions.stream({
      ...ask(model, "[[fx:text]]"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const streamed = await runner.finalChatCompletion();
    assert.equal(
      streamed.choices[0]?.message.content,
      whole.choices[0]?.message.content,
    );
    assert.equal(
      streamed.choices[0]?.finish_reason,
      whole.choices[0]?.finish_reason,
    );
    assert.deepEqual(
      [
        streamed.usage?.prompt_tokens,
        streamed.usage?.completion_tokens,
        streamed.usage?.total_tokens,
      ],
      [
        whole.usage?.prompt_tokens,
        whole.usage?.completion_tokens,
        whole.usage?.total_tokens,
      ],
    );
  }));

Deno.test("a usage chunk comes only if it is requested", (t) =>
  eachFamily(t, async ({ url }, model) => {
    for (const include_usage of [false, true]) {
      const stream = await openaiAt(url).chat.completions.create({
        ...ask(model, "[[fx:text]]"),
        stream: true,
        ...(include_usage ? { stream_options: { include_usage } } : {}),
      });
      let usageChunks = 0;
      for await (const chunk of stream) {
        if (chunk.usage !== undefined && chunk.usage !== null) usageChunks++;
      }
      assert.equal(usageChunks, include_usage ? 1 : 0, model);
    }
  }));

Deno.test("parallel tool calls, and their results on the next turn", (t) =>
  eachFamily(t, async ({ url, replay }, model) => {
    const wanted = [
      { name: "get_weather", arguments: { city: "Paris" } },
      { name: "get_weather", arguments: { city: "Tokyo" } },
    ];
    const params = { ...ask(model, "[[fx:tool-parallel]]"), tools: TOOLS };
    const whole = await openaiAt(url).chat.completions.create(params);
    assert.equal(whole.choices[0]?.finish_reason, "tool_calls");
    assert.deepEqual(calls(whole.choices[0]?.message), wanted);
    const streamed = await openaiAt(url).chat.completions.stream({
      ...params,
      stream: true,
    }).finalChatCompletion();
    const message = streamed.choices[0]?.message;
    assert.deepEqual(calls(message), wanted);
    const ids = (message?.tool_calls ?? []).map((call) => call.id);
    assert.equal(new Set(ids).size, 2);
    assert.ok(message !== undefined);

    const nonce = `results-${model}`;
    const answer = await openaiAt(url).chat.completions.create({
      ...params,
      messages: [
        ...params.messages,
        message,
        ...ids.map((id, i) => ({
          role: "tool" as const,
          tool_call_id: id,
          content: i === 0 ? "18 degrees" : "rain",
        })),
        { role: "user", content: `[[fx:text#${nonce}]]` },
      ],
    });
    assert.equal(answer.choices[0]?.finish_reason, "stop");
    const sent = JSON.stringify(
      (await replay.requestLog.waitForNonce(nonce)).json,
    );
    assert.match(sent, /18 degrees/);
  }));

Deno.test("a forced tool and a JSON schema without a fixture", (t) =>
  eachFamily(t, async ({ url }, model) => {
    const forced = await openaiAt(url).chat.completions.create({
      ...ask(model, "What is the weather?"),
      tools: TOOLS,
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
    const [call] = calls(forced.choices[0]?.message);
    assert.equal(
      typeof (call as { arguments: { city: unknown } }).arguments.city,
      "string",
    );
    const bound = await openaiAt(url).chat.completions.create({
      ...ask(model, "Name a city"),
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "city",
          strict: true,
          schema: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false,
          },
        },
      },
    });
    assert.equal(
      typeof JSON.parse(bound.choices[0]?.message.content ?? "").city,
      "string",
    );
  }));

Deno.test("the model list", async () => {
  await using gateway = await startTestGateway();
  const ids: string[] = [];
  for await (const model of openaiAt(gateway.url).models.list()) {
    ids.push(model.id);
  }
  assert.equal(ids.length, 10);
  const id = "vendora-sonnet-4-6 (context-1m beta)";
  assert.equal(
    (await openaiAt(gateway.url).models.retrieve(id)).owned_by,
    "vendora",
  );
});
