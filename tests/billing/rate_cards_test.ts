/**
 * Calls that cost more than tokens at four rates, over real sockets: what is charged, what is
 * reserved, and what is refused because it has no price.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { explainCharge } from "../../gateway/accounts/charges/explanation.ts";
import { ledgerEntryOf, requestIdOf } from "../support/tables/billing.ts";
import { PNG } from "../../translate/testing/request_samples.ts";
import {
  type RawUpstream,
  startRawUpstream,
} from "../support/upstreams/raw_upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const OPUS = "vendora-opus-4-8";
const HELLO = [{ role: "user", content: "hello" }];
/** A prompt that may have a million tokens. */
const MEDIA = [{
  role: "user",
  content: [{
    type: "image",
    source: { type: "base64", media_type: "image/png", data: PNG },
  }],
}];

/** Runs a test on a gateway whose vendors are all at one scripted upstream. */
async function withUpstream(
  run: (gateway: TestGateway, upstream: RawUpstream) => Promise<void>,
  models: JsonObject = {},
): Promise<void> {
  await using upstream = await startRawUpstream();
  // In every format that it has, Responses too.
  const { dialects: _, ...vendorb } = upstream.vendors.vendorb;
  await using gateway = await startTestGateway({
    access: { ...upstream.vendors, vendorb },
    configFile: JSON.stringify({ models }),
  });
  await run(gateway, upstream);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

/** Makes the upstream answer every call with these bytes. */
function answerWith(
  upstream: RawUpstream,
  body: string,
  contentType: string = "application/json",
): void {
  upstream.answer(async ({ socket }) => {
    const length = new TextEncoder().encode(body).length;
    await socket.send(
      `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${length}\r\n\r\n${body}`,
    );
  });
}

function message(usage: JsonObject): string {
  return JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-8",
    content: [{ type: "text", text: "Hi." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  });
}

function messageStream(start: JsonObject, end: JsonObject): string {
  const frames: readonly JsonObject[] = [
    {
      type: "message_start",
      message: {
        ...JSON.parse(message(start)),
        content: [],
        stop_reason: null,
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: "" },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "Hi." },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: end,
    },
    { type: "message_stop" },
  ];
  return frames.map((frame) =>
    `event: ${frame["type"]}\ndata: ${JSON.stringify(frame)}\n\n`
  ).join("");
}

function completion(fields: JsonObject): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-5.5",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hi." },
      finish_reason: "stop",
    }],
    ...fields,
  });
}

/** Calls, and returns what the ledger has of it: micro-dollars, and the lines. */
async function charged(
  gateway: TestGateway,
  path: string,
  body: JsonObject,
): Promise<{ microUsd: number; lines: readonly string[] }> {
  const response = await gateway.post(path, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const entry = await ledgerEntryOf(gateway, requestIdOf(response));
  const explained = explainCharge(entry);
  assert.equal(explained?.microUsd, 0 - entry.microUsd);
  return {
    microUsd: 0 - entry.microUsd,
    lines: explained.parts.filter(({ tokens }) => tokens > 0).map((part) =>
      `${part.tokens} ${part.of} at ${part.price}${
        part.model === undefined ? "" : ` by ${part.model}`
      }${part.unpriced === true ? " unpriced" : ""}`
    ),
  };
}

const ONE_HOUR = { type: "ephemeral", ttl: "1h" };

Deno.test("a million tokens written to the cache for an hour cost 10 dollars, whole and streamed", () =>
  withUpstream(async (gateway, upstream) => {
    const usage = {
      input_tokens: 0,
      cache_creation_input_tokens: 1_000_000,
      cache_read_input_tokens: 0,
      cache_creation: {
        ephemeral_5m_input_tokens: 0,
        ephemeral_1h_input_tokens: 1_000_000,
      },
      output_tokens: 1,
    };
    for (const stream of [false, true]) {
      answerWith(
        upstream,
        stream ? messageStream(usage, { output_tokens: 1 }) : message(usage),
        stream ? "text/event-stream" : "application/json",
      );
      assert.deepEqual(
        await charged(gateway, "/v1/messages", {
          model: OPUS,
          max_tokens: 10,
          stream,
          system: [{ type: "text", text: "long", cache_control: ONE_HOUR }],
          messages: MEDIA,
        }),
        {
          microUsd: 10_000_025,
          lines: [
            "1000000 cache_write_1h at 10000000",
            "1 output at 25000000",
          ],
        },
      );
    }
  }));

Deno.test("speed, searches and region cost what the reply reports", () =>
  withUpstream(async (gateway, upstream) => {
    answerWith(
      upstream,
      message({
        input_tokens: 1000,
        output_tokens: 100,
        server_tool_use: { web_search_requests: 5, web_fetch_requests: 1 },
        speed: "fast",
        inference_geo: "us",
        service_tier: "standard",
      }),
    );
    const body = {
      model: OPUS,
      max_tokens: 1000,
      speed: "fast",
      inference_geo: "us",
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }],
      messages: HELLO,
    };
    assert.deepEqual(await charged(gateway, "/v1/messages", body), {
      // 1,000 × 5 × 2 × 1.1 + 100 × 25 × 2 × 1.1 + 5 × 10,000
      microUsd: 11_000 + 5_500 + 50_000,
      lines: [
        "1000 input at 11000000",
        "100 output at 55000000",
        "5 uses.web_search at 10000",
      ],
    });
    // Served at the usual speed, anywhere: the reply decides.
    answerWith(
      upstream,
      message({
        input_tokens: 1000,
        output_tokens: 100,
        speed: "standard",
        inference_geo: "global",
      }),
    );
    assert.deepEqual(await charged(gateway, "/v1/messages", body), {
      microUsd: 5000 + 2500,
      lines: ["1000 input at 5000000", "100 output at 25000000"],
    });
  }));

Deno.test("a tier costs what the reply reports, in chat and Responses", () =>
  withUpstream(async (gateway, upstream) => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
    };
    const body = {
      model: "vendorb-5.5",
      max_completion_tokens: 1000,
      messages: HELLO,
    };
    for (
      const [asked, said, microUsd] of [
        ["fast", "priority", 2.5 * 8000],
        ["priority", "default", 8000],
        ["flex", "flex", 4000],
      ] as const
    ) {
      answerWith(upstream, completion({ service_tier: said, usage }));
      const result = await charged(gateway, "/v1/chat/completions", {
        ...body,
        service_tier: asked,
      });
      assert.equal(result.microUsd, microUsd, asked);
    }
    answerWith(
      upstream,
      JSON.stringify({
        id: "resp_1",
        object: "response",
        status: "completed",
        model: "gpt-5.5",
        service_tier: "priority",
        output: [
          { type: "web_search_call", id: "ws_1", status: "completed" },
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "Hi.", annotations: [] }],
          },
        ],
        usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
      }),
    );
    assert.deepEqual(
      await charged(gateway, "/v1/responses", {
        model: "vendorb-5.5",
        service_tier: "priority",
        store: false,
        tools: [{ type: "web_search" }],
        input: "hello",
      }),
      {
        microUsd: 20_000 + 10_000,
        lines: [
          "1000 input at 12500000",
          "100 output at 75000000",
          "1 uses.web_search at 10000",
        ],
      },
    );
  }));

Deno.test("a long prompt is charged at its own rates", () =>
  withUpstream(async (gateway, upstream) => {
    answerWith(
      upstream,
      JSON.stringify({
        candidates: [{
          content: { role: "model", parts: [{ text: "Hi." }] },
          finishReason: "STOP",
        }],
        usageMetadata: {
          promptTokenCount: 200_001,
          candidatesTokenCount: 10,
          totalTokenCount: 200_011,
        },
      }),
    );
    assert.deepEqual(
      await charged(gateway, "/v1/messages", {
        model: "vendorc-3-pro",
        max_tokens: 100,
        messages: MEDIA,
      }),
      {
        microUsd: 800_004 + 180,
        lines: ["200001 input at 4000000", "10 output at 18000000"],
      },
    );
  }));

Deno.test("what a fallback model served costs what that model costs", () =>
  withUpstream(async (gateway, upstream) => {
    const part = { cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    answerWith(
      upstream,
      message({
        input_tokens: 2000,
        output_tokens: 100,
        iterations: [
          {
            type: "message",
            model: "claude-opus-4-8",
            input_tokens: 1000,
            output_tokens: 0,
            ...part,
          },
          {
            type: "fallback_message",
            model: "claude-haiku-4-5",
            input_tokens: 1000,
            output_tokens: 100,
            ...part,
          },
        ],
      }),
    );
    const body = {
      model: OPUS,
      max_tokens: 100,
      fallbacks: [{ model: "claude-haiku-4-5" }],
      messages: HELLO,
    };
    assert.deepEqual(await charged(gateway, "/v1/messages", body), {
      microUsd: 5000 + 1000 + 500,
      lines: [
        "1000 input at 5000000",
        "1000 input at 1000000 by claude-haiku-4-5",
        "100 output at 5000000 by claude-haiku-4-5",
      ],
    });
    await assertRefusal(gateway, "/v1/messages", {
      ...body,
      fallbacks: [{ model: "claude-unheard-of" }],
    }, "fallbacks[0].model");
    await assertRefusal(gateway, "/v1/messages", {
      ...body,
      fallbacks: "default",
    }, "fallbacks");
  }));

Deno.test("what a reply reports without a price is charged at the dearest rate, marked and counted", () =>
  withUpstream(async (gateway, upstream) => {
    answerWith(
      upstream,
      message({
        input_tokens: 10,
        output_tokens: 10,
        smell_output_tokens: 4,
        server_tool_use: { sniff_requests: 1 },
        service_tier: "platinum",
      }),
    );
    const result = await charged(gateway, "/v1/messages", {
      model: "vendora-haiku-4-5",
      max_tokens: 100,
      messages: HELLO,
    });
    assert.deepEqual(result.lines, [
      "10 input at 1000000 unpriced",
      "10 output at 5000000 unpriced",
      "4 unknown_output at 5000000 unpriced",
      "1 uses.sniff at 10000 unpriced",
    ]);
    assert.equal(result.microUsd, 10 + 50 + 20 + 10_000);
    const metrics = gateway.gateway.metrics.text();
    assert.match(
      metrics,
      /gateway_unpriced_calls_total\{model="vendora-haiku-4-5"\} 1/,
    );
  }));

/** A call that is refused before anything is sent, naming the field. */
async function assertRefusal(
  gateway: TestGateway,
  path: string,
  body: JsonObject,
  param: string,
): Promise<void> {
  const response = await gateway.post(path, body);
  const reply: unknown = await response.json();
  assert.equal(response.status, 400, JSON.stringify(reply));
  const error = isObject(reply) ? reply["error"] : undefined;
  assert.ok(isObject(error));
  assert.ok(String(error["message"]).startsWith(`${param}: `), param);
}

const MESSAGES_FIELDS: readonly (readonly [
  param: string,
  fields: JsonObject,
])[] = [
  ["speed", { speed: "fast" }],
  ["inference_geo", { inference_geo: "us" }],
  ["tools[0]", { tools: [{ type: "web_search_20260318", name: "w" }] }],
  ["tools[0]", { tools: [{ type: "code_execution_20260521", name: "c" }] }],
  ["tools[0].model", {
    tools: [{ type: "advisor_20260301", name: "a", model: "claude-9" }],
  }],
  ["system[0].cache_control.ttl", {
    system: [{ type: "text", text: "s", cache_control: ONE_HOUR }],
  }],
  ["cache_control.ttl", { cache_control: ONE_HOUR }],
  ["tools[0].cache_control.ttl", {
    tools: [{
      name: "t",
      input_schema: { type: "object" },
      cache_control: ONE_HOUR,
    }],
  }],
  ["messages[0].content[0].cache_control.ttl", {
    messages: [{
      role: "user",
      content: [{ type: "text", text: "x", cache_control: ONE_HOUR }],
    }],
  }],
  ["billing_policy", {
    billing_policy: { type: "billing_policy", bill_to: "user_profile" },
  }],
];
const CHAT_FIELDS: readonly (readonly [param: string, fields: JsonObject])[] = [
  ["service_tier", { service_tier: "priority" }],
  ["modalities[1]", { modalities: ["text", "audio"] }],
  ["web_search_options", { web_search_options: {} }],
  ["models[0]", { models: ["gpt-5.5-pro"] }],
  ["prompt_cache_options.ttl", {
    prompt_cache_options: { mode: "implicit", ttl: "12h" },
  }],
  ["messages[0].content[0]", {
    messages: [{
      role: "user",
      content: [{
        type: "input_audio",
        input_audio: { data: "AAAA", format: "wav" },
      }],
    }],
  }],
  ["billing_policy", { billing_policy: { bill_to: "user_profile" } }],
];
const RESPONSES_FIELDS: readonly (readonly [
  param: string,
  fields: JsonObject,
])[] = [
  ["service_tier", { service_tier: "flex" }],
  ["tools[0]", { tools: [{ type: "web_search_preview_2025_03_11" }] }],
  ["tools[0]", { tools: [{ type: "image_generation" }] }],
  ["tools[0]", {
    tools: [{ type: "code_interpreter", container: { type: "auto" } }],
  }],
];
/** Four numbers, as files of before the rate cards have them. */
const FOUR = {
  price: { input: 1_000_000, output: 2_000_000, cache_read: 0, cache_write: 0 },
};

Deno.test("a field without a price is refused before anything is sent, in every format", (t) =>
  withUpstream(async (gateway, upstream) => {
    // So that a call that is not refused ends.
    answerWith(upstream, "{}");
    const rows = [
      ...MESSAGES_FIELDS.map((row) =>
        ["/v1/messages", OPUS, { messages: HELLO, max_tokens: 9 }, row] as const
      ),
      ...CHAT_FIELDS.map((row) =>
        [
          "/v1/chat/completions",
          "vendorb-5.5",
          { messages: HELLO },
          row,
        ] as const
      ),
      ...RESPONSES_FIELDS.map((row) =>
        ["/v1/responses", "vendorb-5.5", { input: "hello" }, row] as const
      ),
    ];
    for (const [path, model, body, [param, fields]] of rows) {
      await t.step(
        `${path} ${param} ${JSON.stringify(fields)}`,
        () =>
          assertRefusal(gateway, path, { model, ...body, ...fields }, param),
      );
    }
    assert.equal(upstream.requests.length, 0);
    const { note } = await gateway.logEntry((entry) =>
      entry.note?.includes("tier priority") === true
    );
    assert.equal(
      note,
      "models.vendorb-5.5.price has no rate for tier priority; add one, or let it pass in at_base_rate",
    );
  }, { [OPUS]: FOUR, "vendorb-5.5": FOUR }));

Deno.test("words for the base rate are never refused, and at_base_rate lets the others pass", () =>
  withUpstream(async (gateway, upstream) => {
    answerWith(
      upstream,
      message({
        input_tokens: 100,
        output_tokens: 10,
        speed: "fast",
        server_tool_use: { web_search_requests: 3 },
      }),
    );
    const base = { max_tokens: 9, messages: HELLO };
    for (
      const fields of [
        { service_tier: "auto" },
        { service_tier: "standard_only" },
        { speed: "standard" },
        { billing_policy: null },
        { cache_control: { type: "ephemeral", ttl: "5m" } },
      ]
    ) {
      const response = await gateway.post("/v1/messages", {
        model: "loose",
        ...base,
        ...fields,
      });
      assert.equal(response.status, 200, await response.text());
    }
    const result = await charged(gateway, "/v1/messages", {
      model: "loose",
      ...base,
      speed: "fast",
      tools: [{ type: "web_search_20250305", name: "web_search" }],
      system: [{ type: "text", text: "s", cache_control: ONE_HOUR }],
    });
    assert.equal(result.microUsd, 100 + 20);
  }, {
    loose: {
      vendor: "vendora",
      upstream_model: "claude-opus-4-8",
      price: {
        ...FOUR.price,
        at_base_rate: ["speed", "uses.web_search", "cache_write_1h"],
      },
    },
  }));

Deno.test("the card that has begun last counts, and its version is kept; before the first, no call is made", () =>
  withUpstream(async (gateway, upstream) => {
    answerWith(upstream, message({ input_tokens: 100, output_tokens: 1 }));
    const body = { max_tokens: 9, messages: HELLO };
    const response = await gateway.post("/v1/messages", {
      model: "dated",
      ...body,
    });
    await response.text();
    const entry = await ledgerEntryOf(gateway, requestIdOf(response));
    assert.equal(entry.microUsd, -301);
    assert.equal(explainCharge(entry)?.version, "october");
    const early = await gateway.post("/v1/messages", {
      model: "early",
      ...body,
    });
    assert.equal(early.status, 403);
    assert.match(await early.text(), /has no price on this gateway yet/);
  }, {
    dated: { vendor: "vendora", price: [SEPTEMBER, OCTOBER, LATER] },
    early: { vendor: "vendora", price: [LATER] },
  }));

const SEPTEMBER = {
  input: 1_000_000,
  output: 1_000_000,
  from: "2026-09-01",
  version: "september",
};
const OCTOBER = {
  ...SEPTEMBER,
  input: 3_000_000,
  from: "2026-10-01",
  version: "october",
};
const LATER = { ...SEPTEMBER, from: "2999-01-01", version: "later" };
