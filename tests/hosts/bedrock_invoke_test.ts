/** Bedrock's InvokeModel as a stream: signed requests and binary frames, against an emulator. */
import assert from "node:assert/strict";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import {
  chunkFrame,
  exceptionFrame,
} from "../../translate/testing/aws_frames.ts";
import {
  awsEmulator,
  type SignedRequest,
} from "../support/upstreams/aws_emulator.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const MODEL = "vendora-opus-4-8";
const KEYS = {
  accessKeyId: "ASIAEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "IQoJb3JpZ2luX2VjSessionTokenExample==",
};

/** The events of a stream, as Bedrock sends them. */
const START =
  '{"type":"message_start","message":{"model":"claude-opus-4-8","id":"msg_bdrk_01ABC","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}';
const TEXT = [
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, 世界"} }',
  '{"type":"content_block_stop","index":0}',
];
const END = [
  '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}',
  '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":7,"invocationLatency":900,"firstByteLatency":300}}',
];
const WHOLE_STREAM = [START, ...TEXT, ...END].map((event) => chunkFrame(event));

function streamed(bytes: Uint8Array): Response {
  return new Response(new Uint8Array(bytes), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

interface World {
  readonly gateway: TestGateway;
  readonly accepted: readonly SignedRequest[];
  readonly refusals: readonly string[];
}

async function withBedrock(
  reply: (request: SignedRequest) => Response,
  run: (world: World) => Promise<void>,
  gatewayAheadMs = 0,
): Promise<void> {
  await using emulator = awsEmulator({
    identity: KEYS,
    service: "bedrock",
    region: "eu-central-1",
    now: Date.now,
    reply,
  });
  await using gateway = await startTestGateway({
    realVendors: true,
    now: () => Date.now() + gatewayAheadMs,
    env: {
      GATEWAY_MAX_ATTEMPTS: "1",
      MY_ID: KEYS.accessKeyId,
      MY_SECRET: KEYS.secretAccessKey,
      MY_SESSION: KEYS.sessionToken,
    },
    configFile: JSON.stringify({
      vendors: {
        aws: {
          kind: "bedrock_invoke",
          region: "eu-central-1",
          base_url: emulator.url,
          auth: {
            aws: "keys",
            access_key_id_env: "MY_ID",
            secret_access_key_env: "MY_SECRET",
            session_token_env: "MY_SESSION",
          },
        },
      },
      models: {
        [MODEL]: {
          candidates: [{
            vendor: "aws",
            upstream_model: "eu.anthropic.claude-opus-4-8-v1:0",
          }],
        },
      },
    }),
  });
  await run({ gateway, ...emulator });
}

const MESSAGE = {
  model: MODEL,
  max_tokens: 64,
  stream: true,
  messages: [{ role: "user", content: "Hi" }],
};
const CHAT = {
  model: MODEL,
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: "user", content: "Hi" }],
};

Deno.test("a messages client receives Bedrock's events with their own bytes, without the metrics", () =>
  withBedrock(() => streamed(joinPieces(WHOLE_STREAM)), async (world) => {
    const response = await world.gateway.post("/v1/messages", MESSAGE, {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.deepEqual(world.refusals, []);
    const data = text.split("\n").flatMap((line) =>
      line.startsWith("data: ") ? [line.slice("data: ".length)] : []
    );
    assert.deepEqual(data.slice(1), [
      ...TEXT,
      END[0],
      '{"type":"message_stop"}',
    ]);
    assert.equal(JSON.parse(data[0] ?? "").message.model, MODEL);
    assert.equal(
      world.accepted[0]?.path,
      "/model/eu.anthropic.claude-opus-4-8-v1%3A0/invoke-with-response-stream",
    );
    const { usage } = await world.gateway.logEntry(({ status }) =>
      status === 200
    );
    assert.deepEqual([usage?.input, usage?.output], [12, 7]);
  }));

Deno.test("a chat client receives Bedrock's stream translated, with its usage", () =>
  withBedrock(() => streamed(joinPieces(WHOLE_STREAM)), async (world) => {
    const response = await world.gateway.post("/v1/chat/completions", CHAT);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const chunks = text.split("\n").flatMap((line) =>
      line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []
    );
    assert.equal(
      chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join(""),
      "Hello, 世界",
    );
    const { usage } = chunks.at(-1);
    assert.deepEqual(
      [usage.prompt_tokens, usage.completion_tokens],
      [12, 7],
    );
    assert.match(text, /data: \[DONE\]/);
  }));

Deno.test("both clients receive the whole reply of a signed call", () =>
  withBedrock(() =>
    Response.json({
      id: "msg_bdrk_01",
      type: "message",
      role: "assistant",
      model: "claude-opus-4-8",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2 },
    }), async (world) => {
    const message = await world.gateway.post("/v1/messages", {
      ...MESSAGE,
      stream: false,
    });
    assert.equal((await message.json()).content[0].text, "Hello");
    const chat = await world.gateway.post("/v1/chat/completions", {
      model: MODEL,
      messages: CHAT.messages,
    });
    assert.equal((await chat.json()).choices[0].message.content, "Hello");
    assert.deepEqual(world.refusals, []);
    assert.match(world.accepted[0]?.path ?? "", /v1%3A0\/invoke$/);
  }));

for (const minutes of [-10, 10]) {
  Deno.test(`a machine whose clock is ${minutes} minutes off is corrected by one refusal, which no client sees`, () =>
    withBedrock(
      () => streamed(joinPieces(WHOLE_STREAM)),
      async (world) => {
        for (let i = 0; i < 3; i++) {
          const response = await world.gateway.post("/v1/messages", MESSAGE);
          assert.equal(response.status, 200);
          assert.match(await response.text(), /message_stop/);
        }
        assert.deepEqual(world.refusals, ["InvalidSignatureException"]);
      },
      minutes * 60_000,
    ));
}

const EXCEPTIONS: readonly (readonly [string, number])[] = [
  ["internalServerException", 500],
  ["modelStreamErrorException", 502],
  ["modelTimeoutException", 504],
  ["serviceUnavailableException", 503],
  ["throttlingException", 429],
  ["validationException", 400],
];

for (const [type, status] of EXCEPTIONS) {
  Deno.test(`${type} instead of the first frame is an HTTP status`, () =>
    withBedrock(
      () => streamed(exceptionFrame(type, "Too much.")),
      async (world) => {
        const response = await world.gateway.post("/v1/messages", MESSAGE);
        const body = await response.json();
        assert.equal(response.status, status);
        assert.equal(body.error.message, "Too much.");
      },
    ));
}

for (
  const [name, path, body] of [
    ["messages", "/v1/messages", MESSAGE],
    ["chat", "/v1/chat/completions", CHAT],
  ] as const
) {
  Deno.test(`an exception midway ends a ${name} stream with an error, not with an end`, () =>
    withBedrock(() =>
      streamed(joinPieces([
        ...WHOLE_STREAM.slice(0, 3),
        exceptionFrame("throttlingException", "Too much."),
        ...WHOLE_STREAM.slice(3),
      ])), async (world) => {
      const text = await (await world.gateway.post(path, body)).text();
      assert.match(text, /Hello, 世界/);
      assert.match(text, /Too much\./);
      assert.match(text, /rate_limit_error|"type":"requests"/);
      assert.doesNotMatch(
        text,
        /message_stop|end_turn|"finish_reason":"stop"|\[DONE\]/,
      );
    }));

  Deno.test(`a ${name} stream cut at any byte never looks complete`, async () => {
    const all = joinPieces(WHOLE_STREAM);
    const beforeStop = all.length - (WHOLE_STREAM.at(-1)?.length ?? 0);
    let end = joinPieces(WHOLE_STREAM.slice(0, 3)).length;
    await withBedrock(() => streamed(all.subarray(0, end)), async (world) => {
      // Every byte is cut in the test of the decoder; here, after a frame and some of each frame.
      for (let next = 1; end > 0; next += 97) {
        const response = await world.gateway.post(path, body);
        const text = await response.text();
        assert.doesNotMatch(text, /message_stop|\[DONE\]/, `cut at ${end}`);
        assert.match(text, /"error"/, `cut at ${end}`);
        end = next < beforeStop ? next : 0;
      }
    });
  });
}

Deno.test("a frame with a wrong checksum ends the stream with an error", () => {
  const broken = chunkFrame(TEXT[1] ?? "");
  broken[60] = (broken[60] ?? 0) ^ 1;
  return withBedrock(() =>
    streamed(joinPieces([
      ...WHOLE_STREAM.slice(0, 2),
      broken,
      ...WHOLE_STREAM.slice(3),
    ])), async (world) => {
    const text = await (await world.gateway.post("/v1/messages", MESSAGE))
      .text();
    assert.match(text, /the upstream's event stream is corrupt/);
    assert.doesNotMatch(text, /message_stop|Hello/);
  });
});

Deno.test("no part of the AWS keys in an exception's text reaches a client or the log", async () => {
  const text = `${KEYS.secretAccessKey} ${KEYS.sessionToken}`;
  for (const before of [[], WHOLE_STREAM.slice(0, 3)]) {
    await withBedrock(() =>
      streamed(joinPieces([
        ...before,
        exceptionFrame("validationException", text),
      ])), async (world) => {
      const response = await world.gateway.post("/v1/messages", MESSAGE);
      const seen = await response.text() +
        JSON.stringify(world.gateway.logged);
      assert.match(seen, /\[removed\]/);
      assert.ok(!seen.includes(KEYS.secretAccessKey), seen);
      assert.ok(!seen.includes(KEYS.sessionToken), seen);
    });
  }
});

Deno.test("no part of the AWS keys in a refusal reaches a client or the log", () =>
  withBedrock(
    () =>
      Response.json(
        { message: `${KEYS.secretAccessKey} ${KEYS.sessionToken}` },
        {
          status: 403,
          headers: { "x-amzn-errortype": "UnrecognizedClientException" },
        },
      ),
    async (world) => {
      const response = await world.gateway.post("/v1/messages", MESSAGE);
      const seen = await response.text() +
        JSON.stringify(world.gateway.logged) +
        JSON.stringify([...response.headers]);
      assert.ok(!seen.includes(KEYS.secretAccessKey), seen);
      assert.ok(!seen.includes(KEYS.sessionToken), seen);
      assert.ok(world.accepted.length > 0);
    },
  ));
