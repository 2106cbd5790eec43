/** Requests of the chat-completion format as compatible hosts receive them, by preset. */
import assert from "node:assert/strict";
import { PRESETS } from "../../gateway/upstream/hosts/presets.ts";
import { chunk, DONE } from "../support/upstreams/chat_frames.ts";
import { COMPLETION } from "../support/upstreams/host_upstream.ts";
import { MODEL, withPreset } from "../support/with_preset.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

/** A request with every field in which hosts differ. */
const REQUEST = {
  model: MODEL,
  max_completion_tokens: 50,
  seed: 7,
  service_tier: "auto",
  tool_choice: "required",
  response_format: { type: "json_object" },
  tools: [{
    type: "function",
    function: { name: "f", parameters: { type: "object" } },
  }],
  messages: [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "thought",
      tool_calls: [{
        id: "call_from_another_host",
        type: "function",
        function: { name: "f", arguments: "{}" },
      }],
    },
    { role: "tool", tool_call_id: "call_from_another_host", content: "1" },
  ],
};

interface Difference {
  /** Fields that arrive with another value; undefined: not at all. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Paths that the client is informed of. */
  readonly dropped?: readonly string[];
}

const OLDER_LIMIT = { max_completion_tokens: undefined, max_tokens: 50 };
const FREE_CHOICE: Difference = {
  fields: { tool_choice: "auto" },
  dropped: ["tool_choice"],
};

/** No earlier reasoning, and no form of the reply beside tools. */
const NO_FORMAT_BESIDE_TOOLS: Difference = {
  fields: { service_tier: undefined, response_format: undefined },
  dropped: [
    "response_format",
    "messages[].reasoning_content",
    "service_tier",
  ],
};

/** A required call that is left to the model, and the older name of the limit. */
const OLDER_AND_FREE: Difference = {
  fields: { ...OLDER_LIMIT, ...FREE_CHOICE.fields },
  dropped: ["tool_choice"],
};

/**
 * What each preset changes in the request above, apart from the messages; the others change
 * nothing.
 */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  cerebras: NO_FORMAT_BESIDE_TOOLS,
  deepseek: OLDER_AND_FREE,
  groq: NO_FORMAT_BESIDE_TOOLS,
  lmstudio: {
    fields: {
      ...OLDER_AND_FREE.fields,
      response_format: {
        type: "json_schema",
        json_schema: { name: "response", schema: { type: "object" } },
      },
    },
    dropped: ["tool_choice"],
  },
  mistral: {
    fields: {
      ...OLDER_LIMIT,
      seed: undefined,
      random_seed: 7,
      service_tier: undefined,
      tool_choice: "any",
    },
    dropped: ["messages[].reasoning_content", "service_tier"],
  },
  ollama: OLDER_AND_FREE,
  openrouter: { fields: OLDER_LIMIT },
  perplexity: { fields: OLDER_LIMIT },
  sglang: FREE_CHOICE,
  together: { fields: OLDER_LIMIT },
  vllm: FREE_CHOICE,
  zai: FREE_CHOICE,
};

for (const preset of Object.keys(PRESETS)) {
  Deno.test(`a request that passes through to ${preset} has the fields that it takes`, () =>
    withPreset(preset, async (gateway, host) => {
      const response = await gateway.post("/v1/chat/completions", REQUEST);
      assert.equal(response.status, 200, await response.clone().text());
      await response.body?.cancel();
      const { fields = {}, dropped = [] } = DIFFERENCES[preset] ?? {};
      assert.deepEqual(
        (response.headers.get("x-gateway-dropped") ?? "").split(",").filter((
          path,
        ) => path !== ""),
        dropped,
      );
      const [request] = host.requests;
      assert.equal(request?.headers.get("authorization"), null);
      const { messages: _, ...arrived } = JSON.parse(request?.text ?? "{}");
      const { messages: __, ...sent } = REQUEST;
      const expected = Object.fromEntries(
        Object.entries({ ...sent, model: "m", ...fields }).filter(([, value]) =>
          value !== undefined
        ),
      );
      assert.deepEqual(arrived, expected);
    }));
}

Deno.test("Mistral gets call ids of nine characters, the same for a call and its result, from both formats", () =>
  withPreset("mistral", async (gateway, host) => {
    const own = await gateway.post("/v1/chat/completions", REQUEST);
    await own.body?.cancel();
    const other = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 10,
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [{
            type: "tool_use",
            id: "call_from_another_host",
            name: "f",
            input: {},
          }],
        },
        {
          role: "user",
          content: [{
            type: "tool_result",
            tool_use_id: "call_from_another_host",
            content: "1",
          }],
        },
      ],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
    });
    await other.body?.cancel();
    const ids = host.requests.map(({ text }) => {
      const { messages, tool_choice } = JSON.parse(text);
      assert.equal(tool_choice, "any");
      assert.match(messages[1].tool_calls[0].id, /^[0-9A-Za-z]{9}$/);
      assert.equal(messages[2].tool_call_id, messages[1].tool_calls[0].id);
      return messages[2].tool_call_id;
    });
    assert.equal(ids[0], ids[1]);
  }));

Deno.test("a translated request has the host's habits too, and its losses are named", () =>
  withPreset("lmstudio", async (gateway, host) => {
    const response = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 10,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name: "f" },
    });
    await response.body?.cancel();
    assert.equal(response.headers.get("x-gateway-dropped"), "tool_choice");
    const body = JSON.parse(host.requests[0]?.text ?? "{}");
    assert.deepEqual([body.tool_choice, body.max_tokens], ["auto", 10]);
  }));

Deno.test("xAI's cached tokens beyond the prompt's are billed beside them", () =>
  withPreset("xai", async (gateway, host) => {
    host.answer(() =>
      Response.json({
        ...COMPLETION,
        usage: {
          prompt_tokens: 10,
          completion_tokens: 2,
          total_tokens: 12,
          prompt_tokens_details: { cached_tokens: 100 },
        },
      })
    );
    const response = await gateway.post("/v1/chat/completions", {
      model: MODEL,
      messages: [{ role: "user", content: "Hi" }],
    });
    await response.body?.cancel();
    const id = response.headers.get("request-id");
    const entry = await gateway.logEntry(({ request_id }) => request_id === id);
    assert.deepEqual(
      [entry.usage?.input, entry.usage?.cacheRead, entry.usage?.output],
      [10, 100, 2],
    );
  }));

for (const path of ["/v1/chat/completions", "/v1/messages"]) {
  Deno.test(`xAI's reasoning models get neither stops nor penalties, its others do (${path})`, async () => {
    const isChat = path === "/v1/chat/completions";
    const stop = isChat ? "stop" : "stop_sequences";
    for (
      const [model, isReasoning] of [["grok-4", true], [
        "grok-3",
        false,
      ]] as const
    ) {
      await withPreset(
        "xai",
        async (gateway, host) => {
          const response = await gateway.post(path, {
            model: MODEL,
            max_tokens: 10,
            [stop]: ["END"],
            ...(isChat
              ? { presence_penalty: 0.5, frequency_penalty: 0.5 }
              : {}),
            messages: [{ role: "user", content: "Hi" }],
          });
          assert.equal(response.status, 200, await response.text());
          const sent = JSON.parse(host.requests[0]?.text ?? "");
          assert.equal("stop" in sent, !isReasoning);
          assert.equal("presence_penalty" in sent, isChat && !isReasoning);
          assert.equal("frequency_penalty" in sent, isChat && !isReasoning);
          const dropped = response.headers.get("x-gateway-dropped");
          assert.deepEqual(
            dropped?.split(",").toSorted() ?? [],
            // A translated reply is ended by the gateway.
            isReasoning && isChat
              ? ["frequency_penalty", "presence_penalty", "stop"]
              : [],
          );
        },
        {},
        model,
      );
    }
  });
}

Deno.test("GLM on Cerebras gets earlier reasoning in tags, other models there as before", async () => {
  const turns = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello", reasoning_content: "A greeting." },
    { role: "user", content: "Bye" },
  ];
  const thinking = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "A greeting.", signature: "" },
        { type: "text", text: "Hello" },
      ],
    },
    { role: "user", content: "Bye" },
  ];
  const rows = [
    ["zai-glm-4.7", "/v1/chat/completions", turns, true],
    ["zai-glm-4.7", "/v1/messages", thinking, true],
    ["llama-3.3-70b", "/v1/messages", thinking, false],
  ] as const;
  for (const [model, path, messages, isTagged] of rows) {
    await withPreset(
      "cerebras",
      async (gateway, host) => {
        const response = await gateway.post(path, {
          model: MODEL,
          max_tokens: 10,
          messages,
        });
        assert.equal(response.status, 200, await response.text());
        const sent = JSON.parse(host.requests[0]?.text ?? "");
        assert.deepEqual(sent.messages[1], {
          role: "assistant",
          content: isTagged ? "<think>A greeting.</think>Hello" : "Hello",
        });
      },
      {},
      model,
    );
  }
});

Deno.test("a chat client's stream of a server without a parser for reasoning arrives as it was sent", () =>
  withPreset("vllm", async (gateway, host) => {
    const frames = ["<think>hm", "</think>Hello"].map((content) =>
      chunk({ content }, null, { model: MODEL })
    ).join("") + chunk({}, "stop", { model: MODEL }) + DONE;
    host.answer(() =>
      new Response(frames, { headers: { "content-type": "text/event-stream" } })
    );
    const response = await gateway.post("/v1/chat/completions", {
      model: MODEL,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.equal(await response.text(), frames);
  }));

Deno.test("comments without an answer end at the limit of the first byte, and are not waited for again", () =>
  withPreset("deepseek", async (gateway, host) => {
    const gone = Promise.withResolvers<void>();
    host.answer(() => {
      let timer: ReturnType<typeof setInterval> | undefined;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const comment = new TextEncoder().encode(": keep-alive\n\n");
          controller.enqueue(comment);
          timer = setInterval(() => controller.enqueue(comment), 5);
        },
        cancel() {
          clearInterval(timer);
          gone.resolve();
        },
      });
      return new Response(body, {
        headers: { "content-type": "text/event-stream" },
      });
    });
    const response = await gateway.post("/v1/chat/completions", {
      model: MODEL,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.equal(response.status, 504);
    assert.match(await response.text(), /did not begin its answer in time/);
    await gone.promise;
    assert.equal(host.requests.length, 1);
  }, { GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.2" }));

/** More comments than the limit below allows; without the limit the stream would end well. */
const MANY_COMMENTS = 2_000;

for (const path of ["/v1/chat/completions", "/v1/messages"]) {
  Deno.test(`comments after the first frame do not outlast the limit on silence (${path})`, () =>
    withPreset("openrouter", async (gateway, host) => {
      const gone = Promise.withResolvers<void>();
      host.answer(() => {
        let timer: ReturnType<typeof setInterval> | undefined;
        const text = new TextEncoder();
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            let left = MANY_COMMENTS;
            controller.enqueue(text.encode(FIRST_CHUNK));
            timer = setInterval(() => {
              controller.enqueue(text.encode(": OPENROUTER PROCESSING\n\n"));
              if (--left > 0) return;
              clearInterval(timer);
              controller.enqueue(text.encode(LAST_CHUNK));
              controller.close();
            }, 5);
          },
          cancel() {
            clearInterval(timer);
            gone.resolve();
          },
        });
        return new Response(body, {
          headers: { "content-type": "text/event-stream" },
        });
      });
      const response = await gateway.post(path, {
        model: MODEL,
        stream: true,
        max_tokens: 10,
        messages: [{ role: "user", content: "Hi" }],
      });
      assert.equal(response.status, 200);
      const text = await response.text();
      assert.match(text, /Hel/);
      assert.match(text, /fell silent during its reply/);
      await gone.promise;
    }, { GATEWAY_IDLE_TIMEOUT_SECONDS: "0.5" }));
}

const FIRST_CHUNK =
  `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n`;
const LAST_CHUNK =
  `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

Deno.test("a model without a price yet is not listed, and a call is refused with a clear word", async () => {
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { GROQ_KEY: "k" },
    configFile: JSON.stringify({
      vendors: {
        groq: {
          kind: "openai_compatible",
          preset: "groq",
          api_key_env: "GROQ_KEY",
        },
      },
      models: {
        "groq/m": { vendor: "groq", upstream_model: "m", price: null },
      },
    }),
  });
  const response = await gateway.post("/v1/chat/completions", {
    model: "groq/m",
    messages: [{ role: "user", content: "Hi" }],
  });
  assert.equal(response.status, 403);
  const { error } = await response.json();
  assert.equal(error.code, "model_not_priced");
  assert.match(error.message, /has no price on this gateway yet/);
  const list = await fetch(`${gateway.url}/v1/models`, {
    headers: { "x-api-key": TEST_KEY },
  });
  assert.doesNotMatch(await list.text(), /groq/);
});
