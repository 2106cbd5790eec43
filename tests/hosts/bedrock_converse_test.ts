/** Bedrock's Converse format, which only upstreams use: every client's request and reply. */
import assert from "node:assert/strict";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import {
  awsFrame,
  exceptionFrame,
} from "../../translate/testing/aws_frames.ts";
import {
  awsEmulator,
  type SignedRequest,
} from "../support/upstreams/aws_emulator.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const MODEL = "nova-pro";
const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-of-aws" };

const event = (type: string, data: object): Uint8Array =>
  awsFrame({
    ":event-type": type,
    ":content-type": "application/json",
    ":message-type": "event",
  }, JSON.stringify(data));
const delta = (contentBlockIndex: number, part: object): Uint8Array =>
  event("contentBlockDelta", { contentBlockIndex, delta: part, p: "abc" });

const STREAM: readonly Uint8Array[] = [
  event("messageStart", { role: "assistant" }),
  delta(0, { reasoningContent: { text: "Hm." } }),
  delta(0, { reasoningContent: { signature: "c2lnbmF0dXJl" } }),
  event("contentBlockStop", { contentBlockIndex: 0 }),
  delta(1, { text: "Hello, " }),
  delta(1, { text: "世界" }),
  event("contentBlockStop", { contentBlockIndex: 1 }),
  event("messageStop", { stopReason: "end_turn" }),
  event("metadata", {
    usage: {
      inputTokens: 12,
      outputTokens: 7,
      totalTokens: 24,
      cacheReadInputTokens: 5,
    },
    metrics: { latencyMs: 900 },
  }),
];
const WHOLE = {
  output: {
    message: { role: "assistant", content: [{ text: "Hello, 世界" }] },
  },
  stopReason: "end_turn",
  usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
};

function streamed(frames: readonly Uint8Array[]): Response {
  return new Response(new Uint8Array(joinPieces(frames)), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

interface World {
  readonly gateway: TestGateway;
  readonly accepted: readonly SignedRequest[];
  readonly refusals: readonly string[];
}

async function withConverse(
  reply: () => Response,
  run: (world: World) => Promise<void>,
  upstreamModel = "us.amazon.nova-pro-v1:0",
): Promise<void> {
  await using emulator = awsEmulator({
    identity: KEYS,
    service: "bedrock",
    region: "us-east-1",
    now: Date.now,
    reply,
  });
  await using gateway = await startTestGateway({
    realVendors: true,
    env: {
      GATEWAY_MAX_ATTEMPTS: "1",
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    },
    configFile: JSON.stringify({
      vendors: {
        aws: {
          kind: "bedrock_converse",
          region: "us-east-1",
          base_url: emulator.url,
          auth: { aws: "keys" },
        },
      },
      models: {
        [MODEL]: {
          price: {
            input: 800_000,
            output: 3_200_000,
            cache_read: 200_000,
            cache_write: 0,
          },
          candidates: [{
            vendor: "aws",
            upstream_model: upstreamModel,
          }],
        },
      },
    }),
  });
  await run({ gateway, ...emulator });
}

const TURN = { role: "user", content: "Hi" };
const CLIENTS: readonly (readonly [string, string, object])[] = [
  ["messages", "/v1/messages", { max_tokens: 64, messages: [TURN] }],
  ["chat", "/v1/chat/completions", { messages: [TURN], max_tokens: 64 }],
  ["responses", "/v1/responses", { input: "Hi", max_output_tokens: 64 }],
];

for (const [name, path, body] of CLIENTS) {
  Deno.test(`a ${name} client is answered through Converse, whole and streamed`, async () => {
    let isStream = false;
    await withConverse(
      () => isStream ? streamed(STREAM) : Response.json(WHOLE),
      async ({ gateway, accepted, refusals }) => {
        const ask = async (stream: boolean): Promise<string> => {
          isStream = stream;
          const response = await gateway.post(path, {
            ...body,
            model: MODEL,
            stream,
          });
          const text = await response.text();
          assert.equal(response.status, 200, text);
          return text;
        };
        assert.match(await ask(false), /Hello, 世界/);
        const text = await ask(true);
        assert.match(text, /Hello, /);
        assert.match(text, /message_stop|\[DONE\]|response\.completed/);
        assert.deepEqual(refusals, []);
        assert.deepEqual(accepted.map((one) => one.path), [
          "/model/us.amazon.nova-pro-v1%3A0/converse",
          "/model/us.amazon.nova-pro-v1%3A0/converse-stream",
        ]);
        assert.deepEqual(
          JSON.parse(new TextDecoder().decode(accepted[0]?.body)),
          {
            messages: [{ role: "user", content: [{ text: "Hi" }] }],
            inferenceConfig: { maxTokens: 64 },
          },
        );
        const { usage } = await gateway.logEntry(({ usage }) =>
          usage?.cacheRead !== undefined
        );
        assert.deepEqual(
          [usage?.input, usage?.cacheRead, usage?.output],
          [12, 5, 7],
        );
      },
    );
  });

  Deno.test(`an exception midway, and a cut, end a ${name} client's stream with an error`, async () => {
    for (
      const frames of [
        [...STREAM.slice(0, 5), exceptionFrame("throttlingException", "slow")],
        STREAM.slice(0, 6),
        [...STREAM.slice(0, 5), STREAM[5]?.subarray(0, 40) ?? new Uint8Array()],
      ]
    ) {
      await withConverse(() => streamed(frames), async ({ gateway }) => {
        const response = await gateway.post(path, {
          ...body,
          model: MODEL,
          stream: true,
        });
        const text = await response.text();
        assert.match(text, /Hello, /);
        assert.match(text, /error|response\.failed/);
        assert.doesNotMatch(text, /message_stop|\[DONE\]|response\.completed/);
      });
    }
  });
}

Deno.test("marks of what to cache reach models that take them as points; others have them named", async () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const body = {
    model: MODEL,
    max_tokens: 64,
    system: [{ type: "text", text: "Be brief.", ...mark }],
    tools: [{ name: "f", input_schema: { type: "object" }, ...mark }],
    messages: [{
      role: "user",
      content: [{ type: "text", text: "Hi", ...mark }],
    }],
  };
  const all = "messages[].content[].cache_control,system[].cache_control";
  const rows = [
    ["eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, null],
    ["us.amazon.nova-pro-v1:0", 2, "tools[].cache_control"],
    ["amazon.titan-text-express-v1", 0, `${all},tools[].cache_control`],
  ] as const;
  for (const [model, points, dropped] of rows) {
    await withConverse(() => Response.json(WHOLE), async (world) => {
      const response = await world.gateway.post("/v1/messages", body);
      assert.equal(response.status, 200, await response.text());
      const named = response.headers.get("x-gateway-dropped");
      assert.equal(named?.split(",").toSorted().join(",") ?? null, dropped);
      const sent = new TextDecoder().decode(world.accepted[0]?.body);
      assert.equal(sent.split("cachePoint").length - 1, points, model);
    }, model);
  }
});

Deno.test("a Claude model gets a cap that does not reserve its whole quota; the client's own cap stays", () =>
  withConverse(() => Response.json(WHOLE), async (world) => {
    const capOf = async (body: object): Promise<unknown> => {
      const response = await world.gateway.post("/v1/chat/completions", {
        model: MODEL,
        messages: [TURN],
        ...body,
      });
      assert.equal(response.status, 200, await response.text());
      const sent = new TextDecoder().decode(world.accepted.at(-1)?.body);
      return JSON.parse(sent).inferenceConfig.maxTokens;
    };
    assert.equal(await capOf({}), 8192);
    assert.equal(await capOf({ max_tokens: 20_000 }), 20_000);
  }, "us.anthropic.claude-opus-4-6-v1"));

Deno.test("signed reasoning of Converse returns to it through a messages client", () =>
  withConverse(() => streamed(STREAM), async ({ gateway, accepted }) => {
    const first = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 64,
      messages: [TURN],
      stream: true,
    });
    const signature = /"signature":"([^"]+)"/.exec(
      (await first.text()).replaceAll('"signature":""', ""),
    )?.[1];
    assert.match(signature ?? "", /c2lnbmF0dXJl$/);
    const second = await gateway.post("/v1/messages", {
      model: MODEL,
      max_tokens: 64,
      messages: [
        TURN,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature },
            { type: "text", text: "Hello" },
          ],
        },
        TURN,
      ],
    });
    await second.body?.cancel();
    const sent = JSON.parse(new TextDecoder().decode(accepted[1]?.body));
    assert.deepEqual(sent.messages[1].content[0], {
      reasoningContent: {
        reasoningText: { text: "Hm.", signature: "c2lnbmF0dXJl" },
      },
    });
  }));

Deno.test("an error of Converse keeps its status and text", () =>
  withConverse(
    () =>
      Response.json({ message: "The maximum tokens you requested exceeds" }, {
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException:http://x" },
      }),
    async ({ gateway }) => {
      const response = await gateway.post("/v1/messages", {
        model: MODEL,
        max_tokens: 64,
        messages: [TURN],
      });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /The maximum tokens you requested/);
    },
  ));
