/** What a compatible host signed returns to it, whatever the client's format. */
import assert from "node:assert/strict";
import { type JsonObject } from "../../translate/bytes/json.ts";
import {
  frameData,
  LOOPING_CLIENTS,
  type LoopingClient,
} from "../support/clients/looping_clients.ts";
import {
  COMPLETION,
  type HostUpstream,
} from "../support/upstreams/host_upstream.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { MODEL, withPreset } from "../support/with_preset.ts";

/** Both steps of a loop, whole or as a stream; the assistant's turn of the second as it arrives. */
async function returned(
  client: LoopingClient,
  stream: boolean,
  message: JsonObject,
  gateway: TestGateway,
  host: HostUpstream,
): Promise<{ readonly turn: JsonObject; readonly dropped: string | null }> {
  host.answer(({ text }) =>
    JSON.parse(text).stream === true
      ? new Response(streamOf(message), {
        headers: { "content-type": "text/event-stream" },
      })
      : Response.json({
        ...COMPLETION,
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      })
  );
  const before = client.begin(stream);
  const first = await gateway.post(client.path(stream), before);
  assert.equal(first.status, 200, await first.clone().text());
  const reply = stream
    ? client.folded(frameData(await first.text()))
    : await first.json();
  const second = await gateway.post(
    client.path(stream),
    client.goOn(before, reply),
  );
  assert.equal(second.status, 200, await second.clone().text());
  await second.body?.cancel();
  const sent = JSON.parse(host.requests.at(-1)?.text ?? "");
  return {
    turn: sent.messages[1],
    dropped: second.headers.get("x-gateway-dropped"),
  };
}

/** The message as frames: its reasoning, then its calls, then the end. */
function streamOf(message: JsonObject): string {
  const { tool_calls: calls, ...rest } = message;
  const deltas = [
    rest,
    ...(Array.isArray(calls)
      ? calls.map((call, index) => ({ tool_calls: [{ index, ...call }] }))
      : []),
  ];
  const frames = [
    ...deltas.map((delta) => ({ delta, finish_reason: null })),
    { delta: {}, finish_reason: "tool_calls" },
  ].map((choice) => ({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
  }));
  return [...frames.map((frame) => JSON.stringify(frame)), "[DONE]"].map(
    (data) => `data: ${data}\n\n`,
  ).join("");
}

const CALL = {
  id: "function-call-1",
  type: "function",
  function: { name: "exec", arguments: "{}" },
};
const SIGNED = { google: { thought_signature: "U0lHTkFUVVJF" } };
const SENTINEL = {
  google: { thought_signature: "skip_thought_signature_validator" },
};

const forms = LOOPING_CLIENTS.flatMap((client) =>
  [false, true].map((stream) => [client, stream] as const)
);

for (const [client, stream] of forms) {
  const how = `${client.name}, ${stream ? "streamed" : "whole"}`;

  Deno.test(`the signature of a call returns to Google's chat endpoint (${how})`, () =>
    withPreset("google", async (gateway, host) => {
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ ...CALL, extra_content: SIGNED }, {
          ...CALL,
          id: "function-call-2",
        }],
      };
      const { turn } = await returned(client, stream, message, gateway, host);
      const calls = turn["tool_calls"] as JsonObject[];
      assert.deepEqual(calls.map((call) => call["extra_content"]), [
        SIGNED,
        undefined,
      ]);
    }));

  Deno.test(`the first unsigned call of a turn gets Google's word for calls of others (${how})`, () =>
    withPreset("google", async (gateway, host) => {
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [CALL, { ...CALL, id: "function-call-2" }],
      };
      const { turn } = await returned(client, stream, message, gateway, host);
      const calls = turn["tool_calls"] as JsonObject[];
      assert.deepEqual(calls.map((call) => call["extra_content"]), [
        SENTINEL,
        undefined,
      ]);
    }));

  const sealed: Readonly<Record<string, readonly JsonObject[]>> = {
    "anthropic-claude-v1": [{
      type: "reasoning.text",
      text: "think hard",
      signature: "U0lH",
      format: "anthropic-claude-v1",
      index: 0,
    }],
    "anthropic-claude-v1, redacted": [{
      type: "reasoning.encrypted",
      data: "U0lH",
      format: "anthropic-claude-v1",
      index: 0,
    }],
    "google-gemini-v1": [
      {
        type: "reasoning.text",
        text: "think hard",
        format: "google-gemini-v1",
        index: 0,
      },
      {
        type: "reasoning.encrypted",
        id: "function-call-1",
        data: "U0lH",
        format: "google-gemini-v1",
        index: 0,
      },
    ],
    "openai-responses-v1": [
      {
        type: "reasoning.summary",
        summary: "think hard",
        format: "openai-responses-v1",
        index: 0,
      },
      {
        type: "reasoning.encrypted",
        id: "rs_1",
        data: "U0lH",
        format: "openai-responses-v1",
        index: 0,
      },
    ],
    "xai-responses-v1, without text": [{
      type: "reasoning.encrypted",
      id: "rs_1",
      data: "U0lH",
      format: "xai-responses-v1",
      index: 0,
    }],
  };
  for (const [format, details] of Object.entries(sealed)) {
    Deno.test(`sealed reasoning returns to OpenRouter (${format}; ${how})`, () =>
      withPreset("openrouter", async (gateway, host) => {
        const message = {
          role: "assistant",
          content: null,
          reasoning_details: details,
          tool_calls: [CALL],
        };
        const { turn } = await returned(client, stream, message, gateway, host);
        assert.deepEqual(turn["reasoning_details"], details);
      }));
  }
}

for (
  const [preset, isKept] of [
    ["google", true],
    [undefined, true],
    ["openrouter", true],
    ["mistral", false],
    ["groq", false],
    ["cerebras", false],
    ["fireworks", false],
  ] as const
) {
  Deno.test(`a chat client's own proofs ${isKept ? "pass to" : "are removed and named for"} ${preset ?? "a compatible host"}`, () =>
    withPreset(preset, async (gateway, host) => {
      const details = [{
        type: "reasoning.encrypted",
        data: "x",
        format: "xai-responses-v1",
      }];
      const messages = [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: null,
          reasoning_details: details,
          tool_calls: [{ ...CALL, id: "abcdefghi", extra_content: SIGNED }],
        },
        { role: "tool", tool_call_id: "abcdefghi", content: "a" },
      ];
      const response = await gateway.post("/v1/chat/completions", {
        model: MODEL,
        messages,
      });
      assert.equal(response.status, 200, await response.text());
      const sent = JSON.parse(host.requests[0]?.text ?? "");
      const [, turn] = sent.messages;
      assert.deepEqual(
        [turn.reasoning_details, turn.tool_calls[0].extra_content],
        isKept ? [details, SIGNED] : [undefined, undefined],
      );
      assert.equal(
        response.headers.get("x-gateway-dropped"),
        isKept
          ? null
          : "messages[].reasoning_details,messages[].tool_calls[].extra_content",
      );
    }));
}

Deno.test("DeepSeek gets reasoning beside each call, an empty one where there is none", async () => {
  const call = { type: "tool_use", id: "a", name: "exec", input: {} };
  const history = (content: readonly JsonObject[]): JsonObject => ({
    model: MODEL,
    max_tokens: 10,
    tools: [{ name: "exec", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "a", content: "done" }],
      },
    ],
  });
  const rows: readonly (readonly [string, JsonObject, string])[] = [
    ["/v1/messages", history([call]), ""],
    [
      "/v1/messages",
      history([{ type: "thinking", thinking: "", signature: "S" }, call]),
      "",
    ],
    [
      "/v1/messages",
      history([{ type: "thinking", thinking: "hm", signature: "S" }, call]),
      "hm",
    ],
    ["/v1/chat/completions", {
      model: MODEL,
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [CALL] },
        { role: "tool", tool_call_id: CALL.id, content: "done" },
      ],
    }, ""],
  ];
  for (const [path, body, expected] of rows) {
    await withPreset("deepseek", async (gateway, host) => {
      const response = await gateway.post(path, body);
      assert.equal(response.status, 200, await response.text());
      const sent = JSON.parse(host.requests[0]?.text ?? "");
      assert.equal(sent.messages[1].reasoning_content, expected);
    });
  }
});
