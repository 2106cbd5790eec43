/**
 * The messages format's search of the web at models of other formats: the official library, real
 * sockets, what arrives upstream, what the client reads, and what it costs.
 */
import assert from "node:assert/strict";
import type Anthropic from "@anthropic-ai/sdk";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import { explainCharge } from "../../gateway/accounts/charges/explanation.ts";
import { anthropicAt } from "../support/clients/library_clients.ts";
import { ledgerEntryOf } from "../support/tables/billing.ts";
import {
  type HostUpstream,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const SEARCH = {
  type: "web_search_20250305",
  name: "web_search",
  max_uses: 3,
} as const;
const URL_A = "https://ulm.example/minster";
const ANSWER = "The minster is 161.5 m high.";

const ITEMS: readonly JsonObject[] = [
  {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: {
      type: "search",
      query: "height of the minster",
      sources: [{ type: "url", url: URL_A }],
    },
  },
  {
    type: "web_search_call",
    id: "ws_2",
    status: "completed",
    action: { type: "open_page", url: URL_A },
  },
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{
      type: "output_text",
      text: ANSWER,
      annotations: [{
        type: "url_citation",
        url: URL_A,
        title: "The minster",
        start_index: 0,
        end_index: ANSWER.length,
      }],
    }],
  },
];
const RESPONSE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: ITEMS,
  usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
};
const CONTENT = {
  candidates: [{
    content: { role: "model", parts: [{ text: ANSWER }] },
    finishReason: "STOP",
    groundingMetadata: {
      webSearchQueries: ["height of the minster"],
      groundingChunks: [{ web: { uri: URL_A, title: "The minster" } }],
      groundingSupports: [{
        segment: { startIndex: 0, endIndex: ANSWER.length, text: ANSWER },
        groundingChunkIndices: [0],
      }],
    },
  }],
  usageMetadata: {
    promptTokenCount: 1000,
    candidatesTokenCount: 100,
    totalTokenCount: 1100,
  },
};

const sse = (events: readonly JsonObject[], isNamed: boolean): Response =>
  new Response(
    events.map((event) =>
      `${isNamed ? `event: ${event["type"]}\n` : ""}data: ${
        JSON.stringify(event)
      }\n\n`
    ).join(""),
    { headers: { "content-type": "text/event-stream" } },
  );

function responsesStream(): Response {
  return sse([
    { type: "response.created", response: { ...RESPONSE, output: [] } },
    ...ITEMS.flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: item["type"] === "message"
          ? { ...item, content: [] }
          : { ...item, status: "in_progress", action: undefined },
      },
      ...item["type"] === "message"
        ? [{
          type: "response.output_text.delta",
          output_index,
          content_index: 0,
          delta: ANSWER,
        }]
        : [],
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: RESPONSE },
  ], true);
}

async function withSearch(
  run: (gateway: TestGateway, host: HostUpstream) => Promise<void>,
  models: JsonObject = {},
): Promise<void> {
  await using host = startHostUpstream();
  host.answer(({ path, text }) => {
    const isContent = path.includes("enerateContent");
    const isStream = isContent
      ? path.includes("stream")
      : JSON.parse(text).stream === true;
    return isContent
      ? isStream ? sse([CONTENT], false) : Response.json(CONTENT)
      : isStream
      ? responsesStream()
      : Response.json(RESPONSE);
  });
  await using gateway = await startTestGateway({
    realVendors: true,
    env: {
      VENDORB_API_KEY: "key-b",
      VENDORB_BASE_URL: `${host.url}/v1`,
      VENDORC_API_KEY: "key-c",
      VENDORC_BASE_URL: host.url,
    },
    configFile: JSON.stringify({ models }),
  });
  await run(gateway, host);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

const question = (
  model: string,
  fields: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 200,
  messages: [{ role: "user", content: "How high is the minster?" }],
  tools: [SEARCH],
  ...fields,
});

/** What a coding agent reads of a reply: the searches, what they found, the texts and sources. */
function readBlocks(message: Anthropic.Message): readonly unknown[] {
  return message.content.map((block) => {
    switch (block.type) {
      case "server_tool_use":
        return [block.name, block.input];
      case "web_search_tool_result":
        return Array.isArray(block.content)
          ? block.content.map(({ url, title }) => [url, title])
          : block.content;
      case "text":
        return [
          block.text,
          ...(block.citations ?? []).map((one) =>
            "url" in one ? [one.url, one.title] : one
          ),
        ];
      default:
        return block.type;
    }
  });
}

const CALLED = ["web_search", { query: "height of the minster" }];
const CITED = [ANSWER, [URL_A, "The minster"]];
const ROWS: readonly {
  readonly model: string;
  readonly tool: JsonObject;
  readonly blocks: readonly unknown[];
  readonly line: string;
}[] = [
  {
    model: "vendorb-5",
    tool: { type: "web_search" },
    blocks: [CALLED, [[URL_A, URL_A]], CITED],
    line: "1 uses.web_search at 10000",
  },
  {
    model: "vendorc-3-pro",
    tool: { googleSearch: {} },
    blocks: [CITED, CALLED, [[URL_A, "The minster"]]],
    line: "1 uses.web_search at 14000",
  },
];

Deno.test("a search is made by the model's own, and its results, sources, count and price arrive", (t) =>
  withSearch(async (gateway, host) => {
    const client = anthropicAt(gateway.url);
    for (const { model, tool, blocks, line } of ROWS) {
      const { capabilities } = await client.models.retrieve(model);
      assert.ok(objectOr(objectOr(capabilities)["server_tools"])["supported"]);
      for (const kind of ["whole", "streamed"] as const) {
        await t.step(`${model}, ${kind}`, async () => {
          const asked = question(model);
          const { data, response } = kind === "whole"
            ? await client.messages.create(asked).withResponse()
            : await streamed(client, asked);
          const sent = JSON.parse(host.requests.at(-1)?.text ?? "");
          assert.deepEqual(sent.tools, [tool]);
          assert.deepEqual(readBlocks(data), blocks);
          assert.equal(data.stop_reason, "end_turn");
          assert.equal(data.usage.server_tool_use?.web_search_requests, 1);
          const entry = await ledgerEntryOf(
            gateway,
            response.headers.get("request-id") ?? "",
          );
          const lines = explainCharge(entry)?.parts.map((one) =>
            `${one.tokens} ${one.of} at ${one.price}`
          );
          assert.ok(lines?.includes(line), String(lines));
          const next = await client.messages.create(question(model, {
            messages: [
              ...asked.messages,
              { role: "assistant", content: data.content },
              { role: "user", content: "And the tower?" },
            ],
          })).withResponse();
          assert.doesNotMatch(
            next.response.headers.get("x-gateway-dropped") ?? "",
            /content\[\d/,
          );
        });
      }
    }
  }));

async function streamed(
  client: Anthropic,
  asked: Anthropic.MessageCreateParamsNonStreaming,
) {
  const stream = client.messages.stream(asked);
  const { response } = await stream.withResponse();
  return { data: await stream.finalMessage(), response };
}

Deno.test("bounds of a search are kept, named as lost, or refused", (t) =>
  withSearch(async (gateway, host) => {
    const location = { type: "approximate", city: "Ulm", country: "DE" };
    const bounded = { ...SEARCH, user_location: location };
    const rows: readonly (readonly [
      string,
      JsonObject,
      JsonObject | RegExp,
      string | null,
    ])[] = [
      [
        "vendorb-5",
        { tools: [{ ...bounded, allowed_domains: ["ulm.example"] }] },
        {
          tools: [{
            type: "web_search",
            filters: { allowed_domains: ["ulm.example"] },
            user_location: location,
          }],
          max_tool_calls: 3,
        },
        null,
      ],
      [
        "vendorb-5",
        {
          tools: [SEARCH],
          tool_choice: { type: "tool", name: "web_search" },
        },
        { tool_choice: { type: "web_search" } },
        null,
      ],
      [
        "vendorb-5",
        { tools: [{ ...SEARCH, blocked_domains: ["x.example"] }] },
        /^tools\[0\]\.blocked_domains: /,
        null,
      ],
      [
        "vendorc-3-pro",
        { tools: [{ ...SEARCH, allowed_domains: ["x.example"] }] },
        /^tools\[0\]\.allowed_domains: /,
        null,
      ],
      [
        "vendorc-3-pro",
        { tools: [bounded], tool_choice: { type: "any" } },
        { tools: [{ googleSearch: {} }] },
        "tools[0].max_uses,tools[0].user_location,tool_choice",
      ],
      [
        "vendorc-3-pro",
        { tools: [SEARCH, { name: "f", input_schema: { type: "object" } }] },
        { tools: [{ functionDeclarations: [{ name: "f" }] }] },
        "tools[0]:web_search_20250305",
      ],
    ];
    for (const [model, fields, expected, dropped] of rows) {
      await t.step(`${model}: ${JSON.stringify(fields)}`, async () => {
        const response = await gateway.post("/v1/messages", {
          ...question(model),
          ...fields,
        });
        const reply = await response.json();
        if (expected instanceof RegExp) {
          assert.equal(response.status, 400);
          assert.match(reply.error.message, expected);
          return;
        }
        assert.equal(response.status, 200, JSON.stringify(reply));
        const sent = JSON.parse(host.requests.at(-1)?.text ?? "");
        for (const [key, value] of Object.entries(expected)) {
          assert.deepEqual(sent[key], value);
        }
        assert.equal(response.headers.get("x-gateway-dropped"), dropped);
      });
    }
  }));

Deno.test("a search without a price, or at a model without one, is refused by name", () =>
  withSearch(async (gateway) => {
    for (
      const [model, words] of [
        ["unpriced", /^tools\[0\]: has no price on this gateway/],
        ["other", /^tools\[0\]: .*"web_search_20250305"/],
      ] as const
    ) {
      const response = await gateway.post("/v1/messages", question(model));
      assert.equal(response.status, 400);
      assert.match((await response.json()).error.message, words);
    }
  }, {
    unpriced: {
      price: { input: 1, output: 1 },
      candidates: [{
        vendor: "vendorb",
        upstream_model: "gpt-5",
        dialect: "responses",
        capabilities: { webSearch: true },
      }],
    },
    other: {
      price: { input: 1, output: 1 },
      candidates: [{
        vendor: "vendorb",
        upstream_model: "other",
        dialect: "chat_completions",
      }],
    },
  }));
