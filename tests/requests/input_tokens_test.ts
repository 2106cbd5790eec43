/** Counts of prompts of the chat-completion and the Responses format. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { objectOr } from "../../translate/bytes/json.ts";
import { openaiAt } from "../support/clients/library_clients.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

const CHAT = "/v1/chat/completions/input_tokens";
const RESPONSES = "/v1/responses/input_tokens";
const USER = { role: "user", content: "How many tokens are these words?" };
const TOOL = { name: "look", parameters: { type: "object" } };

/** The same prompt with everything that a whole request may have beside it. */
const WHOLE = {
  [CHAT]: {
    messages: [USER],
    max_completion_tokens: 9,
    temperature: 0.5,
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: TOOL }],
  },
  [RESPONSES]: {
    input: [USER],
    max_output_tokens: 9,
    temperature: 0.5,
    stream: true,
    store: false,
    tools: [{ type: "function", ...TOOL }],
  },
} as const;

const OBJECTS = {
  [CHAT]: "chat.completion.input_tokens",
  [RESPONSES]: "response.input_tokens",
} as const;

for (const path of [CHAT, RESPONSES] as const) {
  Deno.test(`${path}: a vendor that counts is asked in its own format`, async () => {
    await using gateway = await startTestGateway();
    const model = "vendora-opus-4-8";
    const counted = await send(gateway, path, { model, ...WHOLE[path] });
    assert.equal(counted.response.status, 200);
    assert.equal(counted.upstreamPath, "/v1/messages/count_tokens");
    const sent = objectOr(counted.upstreamJson);
    assert.deepEqual(Object.keys(sent).toSorted(), [
      "messages",
      "model",
      "tools",
    ]);
    const { answer } = await send(gateway, "/v1/messages/count_tokens", {
      ...sent,
      model,
    });
    assert.deepEqual(counted.answer, {
      object: OBJECTS[path],
      input_tokens: objectOr(answer)["input_tokens"],
    });
  });

  Deno.test(`${path}: a prompt is estimated where nobody counts`, async () => {
    await using gateway = await startTestGateway();
    const { answer, upstreamPath } = await send(gateway, path, {
      model: "vendorb-5.5",
      ...WHOLE[path],
    });
    assert.equal(upstreamPath, undefined);
    assert.ok(Number(objectOr(answer)["input_tokens"]) > 8);
  });

  Deno.test(`${path}: errors are those of a generation`, async (t) => {
    await using gateway = await startTestGateway();
    const rows: readonly (readonly [object, number, string])[] = [
      [{ model: "nobody", ...WHOLE[path] }, 404, "model"],
      [{ model: "vendorb-5.5" }, 400, path === CHAT ? "messages" : "input"],
      [
        { model: "vendorb-5.5", ...WHOLE[path], temperature: "warm" },
        400,
        "temperature",
      ],
    ];
    for (const [body, status, param] of rows) {
      await t.step(`${status} for ${param}`, async () => {
        const { response, answer } = await send(gateway, path, body);
        assert.equal(response.status, status);
        assert.equal(objectOr(objectOr(answer)["error"])["param"], param);
      });
    }
  });
}

Deno.test("the official library counts a conversation with its stored replies", async () => {
  await using gateway = await startTestGateway();
  const client = openaiAt(gateway.url);
  const model = "vendora-opus-4-8";
  const first = await client.responses.create({ model, input: "Hello" });
  const alone = await client.responses.inputTokens.count({
    model,
    input: "And now?",
  });
  const continued = await client.responses.inputTokens.count({
    model,
    input: "And now?",
    previous_response_id: first.id,
  });
  assert.equal(continued.object, "response.input_tokens");
  assert.ok(continued.input_tokens > alone.input_tokens);
  await assert.rejects(
    client.responses.inputTokens.count({
      model,
      input: "x",
      previous_response_id: "resp_unknown",
    }),
    (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.code, "previous_response_not_found");
      return true;
    },
  );
});

Deno.test("vendor B counts prompts of the Responses format; a host without a count is not asked twice", async (t) => {
  for (const status of [200, 404, 400]) {
    await t.step(`status ${status}`, async () => {
      const bodies: unknown[] = [];
      await using upstream = serveLoopback(async (request) => {
        bodies.push([
          new URL(request.url).pathname,
          Object.keys(await request.json()).toSorted(),
        ]);
        return Response.json(
          status === 200
            ? { object: "response.input_tokens", input_tokens: 41 }
            : { error: { message: "no", param: "input" } },
          { status },
        );
      });
      await using gateway = await startTestGateway({
        realVendors: true,
        env: {
          VENDORB_API_KEY: "key-of-b",
          VENDORB_BASE_URL: `http://127.0.0.1:${upstream.addr.port}/v1`,
        },
      });
      const { response, answer } = await send(gateway, RESPONSES, {
        model: "vendorb-5.5",
        ...WHOLE[RESPONSES],
      });
      assert.deepEqual(bodies, [[
        "/v1/responses/input_tokens",
        ["input", "model", "tools"],
      ]]);
      assert.equal(response.status, status === 400 ? 400 : 200);
      if (status === 200) {
        assert.equal(objectOr(answer)["input_tokens"], 41);
      }
    });
  }
});
