/**
 * A model whose upstream speaks the Responses format, called in every caller's format with its
 * official library.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { readResponseStream } from "../../translate/formats/responses/stream_grammar.ts";
import { objectOr } from "../../translate/bytes/json.ts";
import {
  callItem,
  messageItem,
  reasoningItem,
  type ResponsesUpstream,
} from "../support/upstreams/responses_upstream.ts";
import {
  RESPONSES_MODEL as MODEL,
  withResponsesUpstream as withUpstream,
} from "../support/responses_world.ts";

/** A small call in each caller's format. */
const CALLS = [
  ["/v1/messages", {
    max_tokens: 99,
    messages: [{ role: "user", content: "Hi" }],
  }],
  ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/responses", { input: "Hi" }],
] as const;

const REPLY = [
  reasoningItem("let me see", "proof1"),
  messageItem("Looking."),
  callItem("get_weather", '{"city":"Paris"}', "call_1"),
  callItem("get_time", "{}", "call_2"),
];

function inputOf(upstream: ResponsesUpstream): unknown[] {
  const input = upstream.calls.at(-1)?.body["input"];
  return Array.isArray(input) ? input : [];
}

/** Asserts the input of the second turn, which is the same for every caller's format. */
function assertReplayed(upstream: ResponsesUpstream): void {
  const items = inputOf(upstream).map(objectOr);
  assert.deepEqual(
    items.map(({ type, role }) => type ?? role).filter((type) =>
      type !== "user"
    ),
    [
      "message",
      "reasoning",
      "message",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
    ],
  );
  const reasoning = items.find(({ type }) => type === "reasoning");
  assert.equal(reasoning?.["encrypted_content"], "proof1");
  assert.equal(reasoning?.["id"], undefined);
  const ids = items.map((item) => item["call_id"]).filter(Boolean);
  assert.deepEqual(ids, ["call_1", "call_2", "call_1", "call_2"]);
  assert.equal(upstream.calls.at(-1)?.body["store"], false);
}

Deno.test("the messages library: reasoning, text, parallel calls, and the next turn", () =>
  withUpstream(async ({ upstream, anthropic }) => {
    const tools = ["get_weather", "get_time"].map((name) => ({
      name,
      input_schema: { type: "object" as const },
    }));
    for (const isStream of [false, true]) {
      upstream.play({ items: REPLY });
      const asked = {
        model: MODEL,
        max_tokens: 4000,
        thinking: { type: "enabled" as const, budget_tokens: 2000 },
        tools,
        messages: [{ role: "user" as const, content: "Weather?" }],
      };
      const reply = isStream
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked);
      assert.deepEqual(reply.content.map(({ type }) => type), [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
      ]);
      assert.equal(reply.stop_reason, "tool_use");
      assert.deepEqual(
        [
          reply.usage.input_tokens,
          reply.usage.cache_read_input_tokens,
          reply.usage.output_tokens,
        ],
        [7, 4, 7],
      );
      assert.deepEqual(upstream.calls.at(-1)?.body["reasoning"], {
        effort: "low",
        summary: "auto",
      });
      await anthropic.messages.create({
        ...asked,
        messages: [...asked.messages, {
          role: "assistant",
          content: reply.content,
        }, {
          role: "user",
          content: reply.content.flatMap((block) =>
            block.type === "tool_use"
              ? [{
                type: "tool_result" as const,
                tool_use_id: block.id,
                content: "18",
              }]
              : []
          ),
        }],
      });
      assertReplayed(upstream);
    }
  }));

Deno.test("the chat library: reasoning, text, parallel calls, and the next turn", () =>
  withUpstream(async ({ upstream, openai }) => {
    const tools = ["get_weather", "get_time"].map((name) => ({
      type: "function" as const,
      function: { name, parameters: { type: "object" } },
    }));
    for (const isStream of [false, true]) {
      upstream.play({ items: REPLY });
      const asked = {
        model: MODEL,
        reasoning_effort: "low" as const,
        tools,
        messages: [{ role: "user" as const, content: "Weather?" }],
      };
      const whole = await openai.chat.completions.create(asked);
      const message = whole.choices[0]?.message;
      assert.ok(message !== undefined);
      if (isStream) {
        const streamed = await openai.chat.completions.stream({
          ...asked,
          stream: true,
        }).finalChatCompletion();
        const streamedMessage = streamed.choices[0]?.message;
        assert.equal(streamedMessage?.content, message.content);
        assert.deepEqual(
          streamedMessage?.tool_calls?.map(({ id }) => id),
          message.tool_calls?.map(({ id }) => id),
        );
      }
      assert.equal(message.content, "Looking.");
      assert.equal(whole.choices[0]?.finish_reason, "tool_calls");
      assert.equal(whole.usage?.prompt_tokens, 11);
      await openai.chat.completions.create({
        ...asked,
        messages: [
          ...asked.messages,
          message,
          ...(message.tool_calls ?? []).map(({ id }) => ({
            role: "tool" as const,
            tool_call_id: id,
            content: "18",
          })),
        ],
      });
      assertReplayed(upstream);
      const [tool] = [upstream.calls.at(-1)?.body["tools"]].flat().map(
        objectOr,
      );
      assert.equal(tool?.["strict"], false);
    }
  }));

Deno.test("the Responses library: requests and replies keep their bytes", () =>
  withUpstream(async ({ upstream, openai, gateway }) => {
    upstream.play({ items: REPLY });
    const asked = {
      model: MODEL,
      input: "Weather?",
      tools: [
        { type: "web_search" as const },
        { type: "custom" as const, name: "patch" },
      ],
    };
    const whole = await openai.responses.create(asked);
    assert.equal(whole.model, MODEL);
    assert.match(whole.id, /^resp_(?!upstream)/);
    assert.deepEqual(whole.output, REPLY);
    assert.equal(
      upstream.calls.at(-1)?.text,
      JSON.stringify({ ...asked, model: "model-b" }).replace(
        /\}$/,
        ',"store":false,"include":["reasoning.encrypted_content"]}',
      ),
    );
    assert.equal(upstream.calls.at(-1)?.path, "/v1/responses");
    assert.equal(
      upstream.calls.at(-1)?.headers.get("authorization"),
      "Bearer key-b",
    );
    const streamed = await openai.responses.stream(asked).finalResponse();
    assert.deepEqual(
      streamed.output.map(({ type }) => type),
      REPLY.map(({ type }) => type),
    );
    const raw = await gateway.post("/v1/responses", { ...asked, stream: true });
    assert.equal(raw.headers.get("x-gateway-dropped"), null);
    const { items, reply } = readResponseStream(await raw.text());
    assert.deepEqual(items, REPLY);
    assert.equal(reply["model"], MODEL);
    assert.equal(reply["store"], true);
  }));

Deno.test("an upstream that fails during its stream fails the caller's stream, with the upstream's message", () =>
  withUpstream(async ({ upstream, openai, anthropic }) => {
    upstream.play({
      items: [messageItem("a long beginning")],
      failAfter: 6,
      error: { code: "server_error", message: "the model broke" },
    });
    const message = { role: "user" as const, content: "Hi" };
    const faults = [
      await anthropic.messages.stream({
        model: MODEL,
        max_tokens: 9,
        messages: [message],
      }).finalMessage().catch((error) => error),
      await openai.chat.completions.stream({
        model: MODEL,
        messages: [message],
        stream: true,
      }).finalChatCompletion().catch((error) => error),
      await openai.responses.stream({ model: MODEL, input: "Hi" })
        .finalResponse().catch((error) => error),
    ];
    for (const fault of faults) {
      assert.ok(fault instanceof Error);
      assert.match(fault.message, /the model broke/);
    }
  }));

Deno.test("an upstream that fails before any content causes an HTTP status for every caller", () =>
  withUpstream(async ({ upstream, gateway }) => {
    upstream.play({
      items: [messageItem("never sent")],
      failAfter: 2,
      error: { code: "rate_limit_exceeded", message: "slow down" },
    });
    for (const [path, body] of CALLS) {
      for (const stream of [true, false]) {
        const response = await gateway.post(path, {
          model: MODEL,
          stream,
          ...body,
        });
        assert.equal(response.status, 429, path);
        assert.equal((await response.json()).error.message, "slow down");
      }
    }
  }, { env: { GATEWAY_MAX_ATTEMPTS: "1" } }));

Deno.test("an upstream's stream that is truncated after any frame never looks complete", () =>
  withUpstream(async ({ upstream, gateway }) => {
    for (let cutAfter = 0; cutAfter < 9; cutAfter++) {
      upstream.play({ items: [messageItem("abcdefgh")], cutAfter });
      for (const [path, body] of CALLS) {
        const response = await gateway.post(path, {
          model: MODEL,
          stream: true,
          ...body,
        });
        const text = await response.text();
        if (response.status === 200) {
          assert.match(text, /event: error|"error":\{/);
        } else assert.equal(response.status, 502);
        assert.doesNotMatch(
          text,
          /message_stop|\[DONE\]|response\.completed/,
          `${path} ${cutAfter}`,
        );
      }
    }
  }));

Deno.test("upstream errors keep their status, code and field", () =>
  withUpstream(async ({ upstream, openai }) => {
    upstream.play({
      status: 400,
      error: {
        message: "Your input exceeds the context window of this model.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    });
    const fault = await openai.responses.create({ model: MODEL, input: "Hi" })
      .catch((error) => error);
    assert.ok(fault instanceof OpenAI.BadRequestError);
    assert.equal(fault.code, "context_length_exceeded");
    assert.equal(fault.param, "input");
  }));

Deno.test("reasoning that another account signed is dropped and reported if an upstream refuses it", () =>
  withUpstream(async ({ upstream, gateway }) => {
    const refusal = {
      status: 400,
      error: {
        message: "The encrypted content could not be verified.",
        type: "invalid_request_error",
        code: "invalid_encrypted_content",
      },
    };
    const conversations = [
      ["/v1/responses", {
        input: [
          { role: "user", content: "go" },
          { ...reasoningItem("hm", "theirs") },
          callItem("f", "{}", "call_1"),
          { type: "function_call_output", call_id: "call_1", output: "ok" },
        ],
      }, "input[].reasoning"],
      ["/v1/messages", {
        max_tokens: 99,
        messages: [
          { role: "user", content: "go" },
          {
            role: "assistant",
            content: [
              {
                type: "thinking",
                thinking: "hm",
                signature: "gw1:responses:theirs",
              },
              { type: "text", text: "done" },
            ],
          },
          { role: "user", content: "more" },
        ],
      }, "messages[].reasoning"],
    ] as const;
    for (const [path, body, loss] of conversations) {
      upstream.play(refusal, { items: [messageItem("hi")] });
      const before = upstream.calls.length;
      const asked = { model: MODEL, ...body };
      const response = await gateway.post(path, asked);
      assert.equal(response.status, 200, await response.text());
      assert.equal(response.headers.get("x-gateway-dropped"), loss);
      const [first, second, ...more] = upstream.calls.slice(before);
      assert.ok(first?.text.includes('"theirs"'));
      assert.ok(!second?.text.includes("theirs"));
      assert.deepEqual(more, []);
      for (
        const headers of [{ "x-gateway-strict": "true" }, undefined] as const
      ) {
        upstream.play(refusal);
        const refused = await gateway.post(path, asked, headers);
        assert.equal(refused.status, 400);
        await refused.body?.cancel();
      }
    }
  }));

Deno.test("a waiting caller receives the first frames of its reply once, and the sequence numbers continue", () =>
  withUpstream(async ({ upstream, gateway, openai }) => {
    const release = Promise.withResolvers<void>();
    upstream.play({ items: [messageItem("late")], after: release.promise });
    const response = await gateway.post("/v1/responses", {
      model: MODEL,
      input: "Hi",
      stream: true,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream())
      .getReader();
    let text = "";
    while (!text.includes("keepalive")) {
      text += (await reader?.read())?.value ?? "";
    }
    release.resolve();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) break;
      text += piece.value;
    }
    const { types, ending } = readResponseStream(text);
    assert.equal(ending, "completed");
    assert.ok(types.includes("keepalive"));
    // The library skips keep-alive frames.
    const again = Promise.withResolvers<void>();
    upstream.play({ items: [messageItem("late")], after: again.promise });
    const stream = openai.responses.stream({ model: MODEL, input: "Hi" });
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(event.type);
      if (String(event.type) === "keepalive") again.resolve();
    }
    assert.equal(seen.at(-1), "response.completed");
  }, { env: { GATEWAY_PING_SECONDS: "1" } }));

Deno.test("tools and reasoning together go to the vendor's Responses endpoint, if the model's entry requires it", () =>
  withUpstream(async ({ upstream, openai }) => {
    const ask = async (
      model: string,
      over: object,
    ): Promise<string | undefined> => {
      await openai.chat.completions.create({
        model,
        messages: [{ role: "user", content: "Hi" }],
        ...over,
      }).catch(() => {});
      return upstream.calls.at(-1)?.path;
    };
    const tools = [{ type: "function", function: { name: "f" } }];
    const chat = "/v1/chat/completions";
    assert.equal(await ask("vendorb-5.5", {}), chat);
    assert.equal(await ask("vendorb-5.5", { tools }), chat);
    assert.equal(await ask("vendorb-5.5", { reasoning_effort: "low" }), chat);
    const both = { tools, reasoning_effort: "low" };
    assert.equal(await ask("vendorb-5.5", both), "/v1/responses");
    assert.equal(
      await ask("vendorb-5.5", { tools, reasoning_effort: "none" }),
      chat,
    );
    assert.equal(await ask("vendorb-5", both), chat);
  }));

Deno.test("the usage of a streamed call is in the ledger, even if the call failed", () =>
  withUpstream(async ({ upstream, gateway }) => {
    upstream.play({ items: [messageItem("hi")] });
    const ask = async () => {
      const response = await gateway.post("/v1/responses", {
        model: MODEL,
        input: "Hi",
        stream: true,
      });
      await response.text();
      return await gateway.logEntry((entry) =>
        entry.request_id === response.headers.get("request-id")
      );
    };
    assert.deepEqual((await ask()).usage, {
      input: 7,
      cacheRead: 4,
      output: 7,
      reasoning: 2,
    });
    upstream.play({
      items: [messageItem("hi")],
      failAfter: 5,
      error: { code: "server_error", message: "no" },
    });
    const failed = await ask();
    assert.equal(failed.ended, "failed");
    assert.ok((failed.cost_micro_usd ?? -1) >= 0);
  }));
