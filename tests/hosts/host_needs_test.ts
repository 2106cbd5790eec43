/** What single hosts demand of a request, in the path of each client format. */
import { chargesIn } from "../support/tables/billing.ts";
import assert from "node:assert/strict";
import { type JsonObject } from "../../translate/bytes/json.ts";
import { LOOPING_CLIENTS } from "../support/clients/looping_clients.ts";
import { COMPLETION } from "../support/upstreams/host_upstream.ts";
import { MODEL, withPreset } from "../support/with_preset.ts";

interface SentMessage {
  readonly role: string;
  readonly content: string;
}

/** The parts of a request to the host that the tests read. */
interface SentBody {
  readonly messages: readonly [SentMessage, ...SentMessage[]];
  readonly response_format?: unknown;
  readonly reasoning_effort?: unknown;
  readonly tools?: unknown;
}

/** The body that a host receives, and the paths that its client is informed of. */
async function received(
  preset: string | undefined,
  path: string,
  body: JsonObject,
  upstreamModel?: string,
): Promise<{
  readonly sent: SentBody;
  readonly dropped: string | null;
}> {
  let outcome: { sent: SentBody; dropped: string | null } | undefined;
  await withPreset(
    preset,
    async (gateway, host) => {
      const response = await gateway.post(path, body);
      assert.equal(response.status, 200, await response.text());
      outcome = {
        sent: JSON.parse(host.requests[0]?.text ?? ""),
        dropped: response.headers.get("x-gateway-dropped"),
      };
    },
    {},
    upstreamModel,
  );
  assert.ok(outcome !== undefined);
  return outcome;
}

for (const client of LOOPING_CLIENTS) {
  for (
    const [preset, model] of [
      ["mistral", "m"],
      ["vllm", "mistralai/Devstral-Small-2-24B"],
      [undefined, "ministral-8b"],
    ] as const
  ) {
    Deno.test(`Mistral's models get no user turn right after results (${client.name}; ${preset ?? "any host"})`, () =>
      withPreset(
        preset,
        async (gateway, host) => {
          const call = {
            id: "abcdefghi",
            type: "function",
            function: { name: "exec", arguments: "{}" },
          };
          host.answer(() =>
            Response.json({
              ...COMPLETION,
              choices: [{
                index: 0,
                message: {
                  role: "assistant",
                  content: null,
                  tool_calls: [call, { ...call, id: "abcdefghj" }],
                },
                finish_reason: "tool_calls",
              }],
            })
          );
          const before = client.begin(false);
          const first = await gateway.post(client.path(false), before);
          const second = await gateway.post(
            client.path(false),
            client.goOn(before, await first.json(), "a reminder"),
          );
          assert.equal(second.status, 200, await second.text());
          const { messages } = JSON.parse(host.requests.at(-1)?.text ?? "");
          assert.deepEqual(messages.map(({ role }: JsonObject) => role), [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "user",
          ]);
          assert.equal(messages.at(-1).content, "a reminder");
        },
        {},
        model,
      ));
  }
}

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const USER = [{ role: "user", content: "Hi" }];
const BOUND: readonly (readonly [string, JsonObject, string])[] = [
  ["/v1/chat/completions", {
    model: MODEL,
    messages: USER,
    response_format: {
      type: "json_schema",
      json_schema: { name: "place", schema: SCHEMA },
    },
  }, "response_format"],
  ["/v1/messages", {
    model: MODEL,
    max_tokens: 10,
    messages: USER,
    output_config: { format: { type: "json_schema", schema: SCHEMA } },
  }, "output_config.format"],
  ["/v1/responses", {
    model: MODEL,
    store: false,
    input: "Hi",
    text: { format: { type: "json_schema", name: "place", schema: SCHEMA } },
  }, "text.format"],
  [`/v1beta/models/${MODEL}:generateContent`, {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: {
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
    },
  }, "generationConfig.responseJsonSchema"],
];

for (const preset of ["deepseek", "zai"]) {
  for (const [path, body, name] of BOUND) {
    Deno.test(`${preset} gets a schema as an instruction beside json_object (${path})`, async () => {
      const { sent, dropped } = await received(preset, path, body);
      assert.deepEqual(sent.response_format, { type: "json_object" });
      assert.equal(sent.messages[0].role, "system");
      assert.ok(sent.messages[0].content.includes(JSON.stringify(SCHEMA)));
      assert.match(sent.messages[0].content, /JSON/);
      assert.ok(dropped?.split(",").includes(name), dropped ?? "nothing");
      assert.equal(sent.tools, undefined);
    });
  }
}

for (
  const [preset, role] of [
    ["deepseek", "system"],
    ["vllm", "system"],
    ["openrouter", "system"],
    [undefined, "system"],
    ["azure", "developer"],
  ] as const
) {
  Deno.test(`a chat client's developer turn is ${role} at ${preset ?? "a compatible host"}`, async () => {
    const { sent } = await received(preset, "/v1/chat/completions", {
      model: MODEL,
      messages: [{ role: "developer", content: "D" }, ...USER],
    });
    assert.deepEqual(sent.messages, [{ role, content: "D" }, ...USER]);
  });
}

Deno.test("a chat client's instructions are one turn at the start of an open model's conversation", async () => {
  const said = { role: "assistant", content: "Yes" };
  const { sent } = await received("vllm", "/v1/chat/completions", {
    model: MODEL,
    messages: [
      { role: "system", content: "A" },
      { role: "developer", content: [{ type: "text", text: "B" }] },
      ...USER,
      said,
      { role: "system", content: "C" },
      ...USER,
    ],
  });
  assert.deepEqual(sent.messages, [
    { role: "system", content: "A\n\nB" },
    ...USER,
    said,
    { role: "user", content: "<system-reminder>\nC\n</system-reminder>" },
    ...USER,
  ]);
});

for (
  const [path, part, name] of [
    ["/v1/chat/completions", {
      type: "image_url",
      image_url: { url: "data:image/png;base64,AAAA" },
    }, "messages[].content[].image_url"],
    ["/v1/messages", {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAAA" },
    }, "messages[0].content[0]"],
  ] as const
) {
  Deno.test(`a note is in the place of a picture for a text model (${path})`, async () => {
    const { sent, dropped } = await received("deepseek", path, {
      model: MODEL,
      max_tokens: 10,
      messages: [{
        role: "user",
        content: [part, { type: "text", text: "What is it?" }],
      }],
    });
    assert.deepEqual(sent.messages[0].content, [
      {
        type: "text",
        text: "[A picture was here. This model does not take pictures.]",
      },
      { type: "text", text: "What is it?" },
    ]);
    assert.equal(dropped, name);
  });
}

for (
  const [preset, model, expected] of [
    ["xai", "grok-4.6", "xhigh"],
    ["xai", "grok-4.5", "high"],
    ["xai", "grok-4.3", "high"],
    ["xai", "grok-3-mini", "high"],
    ["xai", "grok-4-1-fast-reasoning", undefined],
    ["groq", "openai/gpt-oss-120b", "high"],
    ["groq", "llama-3.3-70b", undefined],
    ["together", "openai/gpt-oss-20b", "high"],
    ["cerebras", "gpt-oss-120b", "high"],
    ["openrouter", "anthropic/claude-opus-4.8", "xhigh"],
    ["fireworks", "accounts/fireworks/models/glm-5", "high"],
    ["deepseek", "deepseek-v4-pro", "high"],
    ["google", "gemini-3-flash", "high"],
    ["google", "gemini-2.0-flash", undefined],
  ] as const
) {
  Deno.test(`effort reaches ${model} at ${preset} as ${expected ?? "nothing, which is named"}`, async () => {
    const { sent, dropped } = await received(
      preset,
      "/v1/messages",
      {
        model: MODEL,
        max_tokens: 10,
        messages: USER,
        thinking: { type: "adaptive" },
        output_config: { effort: "xhigh" },
      },
      model,
    );
    assert.equal(sent.reasoning_effort, expected);
    assert.equal(dropped, expected === "xhigh" ? null : "thinking");
  });
}

Deno.test("a generate-content client's XHIGH is the effort xhigh", async () => {
  const { sent } = await received(
    "openrouter",
    `/v1beta/models/${MODEL}:generateContent`,
    {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: "XHIGH" } },
    },
  );
  assert.equal(sent.reasoning_effort, "xhigh");
});

Deno.test("Claude behind OpenRouter gets cache_control, other models there nothing", async () => {
  const mark = { type: "ephemeral" };
  const body = {
    model: MODEL,
    max_tokens: 10,
    system: [{ type: "text", text: "S", cache_control: mark }],
    messages: [{
      role: "user",
      content: [{
        type: "text",
        text: "Hi",
        cache_control: mark,
      }],
    }],
  };
  const claude = await received(
    "openrouter",
    "/v1/messages",
    body,
    "anthropic/claude-opus-4.8",
  );
  assert.deepEqual(claude.sent.messages, [
    {
      role: "system",
      content: [{
        type: "text",
        text: "S",
        cache_control: mark,
      }],
    },
    {
      role: "user",
      content: [{
        type: "text",
        text: "Hi",
        cache_control: mark,
      }],
    },
  ]);
  assert.equal(claude.dropped, null);
  const other = await received("openrouter", "/v1/messages", body, "x/y");
  assert.deepEqual(other.sent.messages, [
    { role: "system", content: "S" },
    { role: "user", content: "Hi" },
  ]);
  assert.equal(
    other.dropped,
    "system[].cache_control,messages[].content[].cache_control",
  );
});

for (const path of ["/v1/messages", "/v1/chat/completions"]) {
  Deno.test(`an hour of Claude's cache behind OpenRouter is asked for, and charged as an hour (${path})`, () =>
    withPreset(
      "openrouter",
      async (gateway, host) => {
        host.answer(() =>
          Response.json({
            ...COMPLETION,
            usage: {
              prompt_tokens: 10_010,
              completion_tokens: 2,
              total_tokens: 10_012,
              prompt_tokens_details: { cache_write_tokens: 10_000 },
            },
          })
        );
        const mark = { type: "ephemeral", ttl: "1h" };
        const system = [{
          type: "text",
          text: "word ".repeat(10_000),
          cache_control: mark,
        }];
        const response = await gateway.post(path, {
          model: MODEL,
          max_tokens: 10,
          ...(path === "/v1/messages" ? { system, messages: USER } : {
            messages: [{ role: "system", content: system }, ...USER],
          }),
        });
        assert.equal(response.status, 200, await response.text());
        assert.equal(response.headers.get("x-gateway-dropped"), null);
        const sent = JSON.parse(host.requests[0]?.text ?? "");
        assert.deepEqual(sent.messages[0].content[0].cache_control, mark);
        await gateway.recorded();
        const [charge] = await chargesIn(gateway);
        assert.deepEqual(
          charge?.lines?.map(({ meter, quantity }) => [meter, quantity])
            .filter(([meter]) => String(meter).startsWith("cache")),
          [["cache_write_1h", 10_000]],
        );
      },
      {},
      "anthropic/claude-opus-4.8",
    ));
}

Deno.test("SGLang's matched stop text is the reply's stop sequence", () =>
  withPreset("sglang", async (gateway, host) => {
    host.answer(() =>
      Response.json({
        ...COMPLETION,
        choices: [{ ...COMPLETION.choices[0], matched_stop: "END" }],
      })
    );
    const response = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 10,
      stop_sequences: ["END"],
      messages: USER,
    });
    const { stop_reason, stop_sequence } = await response.json();
    assert.deepEqual([stop_reason, stop_sequence], ["stop_sequence", "END"]);
  }));

Deno.test("sounds and JSON of a generate-content client have the chat format's words", async () => {
  const parts = [
    ["audio/mpeg", "AAAA"],
    ["audio/x-wav", "AAAA"],
    ["audio/wave", "AAAA"],
    ["application/json", btoa('{"a":1}')],
  ].map(([mimeType, data]) => ({ inlineData: { mimeType, data } }));
  const { sent } = await received(
    undefined,
    `/v1beta/models/${MODEL}:generateContent`,
    { contents: [{ role: "user", parts }] },
  );
  const sound = (format: string): JsonObject => ({
    type: "input_audio",
    input_audio: { data: "AAAA", format },
  });
  assert.deepEqual(sent.messages[0].content, [
    sound("mp3"),
    sound("wav"),
    sound("wav"),
    { type: "text", text: '{"a":1}' },
  ]);
});
