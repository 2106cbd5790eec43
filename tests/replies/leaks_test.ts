/** Errors in the middle of a stream, and the upstream's headers, as clients see them. */
import assert from "node:assert/strict";
import { jsonScript, streamScript } from "../../replay/mod.ts";
import {
  CALLERS,
  callScripted,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";

/**
 * An error after good frames: the name, the upstream's format and frames, and the error type in
 * each client format.
 */
const MID: readonly (readonly [
  string,
  UpstreamFormat,
  readonly string[],
  string,
  string,
])[] = [
  [
    "anthropic, padded",
    "messages",
    [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
      'event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_theirs"          }\n\n',
    ],
    "overloaded_error",
    "server_error",
  ],
  [
    "groq's event",
    "chat",
    [
      'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
      'event: error\ndata: {"error":{"message":"Overloaded","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x","status_code":400}}\n\n',
    ],
    "invalid_request_error",
    "invalid_request_error",
  ],
  [
    "openrouter's chunk",
    "chat",
    [
      'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
      'data: {"id":"1","error":{"code":429,"message":"Overloaded"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}\n\n',
      "data: [DONE]\n\n",
    ],
    "rate_limit_error",
    "requests",
  ],
  [
    "google's compatible endpoint",
    "chat",
    [
      'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
      'data: [{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}]\n\n',
    ],
    "overloaded_error",
    "server_error",
  ],
  [
    "google, without a data field and over several lines",
    "gemini",
    [
      'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\r\n\r\n',
      '{\n  "error": {\n    "code": 503,\n    "message": "Overloaded",\n    "status": "UNAVAILABLE"\n  }\n}\n',
    ],
    "overloaded_error",
    "server_error",
  ],
];

Deno.test("an error inside a stream is the client's last frame", async (t) => {
  await using gateway = await startTestGateway();
  for (const [name, upstream, frames, ...types] of MID) {
    for (const [n, caller] of CALLERS.entries()) {
      await t.step(`${name} to ${caller}`, async () => {
        const response = await callScripted(
          gateway,
          caller,
          upstream,
          streamScript(frames),
          { stream: true },
        );
        const [last = "", ...before] = (await response.text()).trimEnd()
          .split("\n\n").reverse();
        const { type, error } = JSON.parse(last.replace(/^[^]*?data: /, ""));
        assert.equal(last.startsWith("event: error"), caller === "messages");
        assert.equal(type, caller === "messages" ? "error" : undefined);
        assert.equal(error.type, types[n]);
        assert.equal(error.message, "Overloaded");
        assert.ok(!before.some((frame) => frame.includes("error")));
      });
    }
  }
});

/** Each format's request for a stream, and where its error has the request's id. */
const STREAMS: readonly (readonly [
  path: string,
  body: (text: string) => unknown,
  at: (frame: string) => unknown,
])[] = [
  [
    "/v1/messages",
    (text) => ({
      model: "vendora-opus-4-8",
      max_tokens: 9,
      stream: true,
      messages: [{ role: "user", content: text }],
    }),
    (frame) => frameOf(frame).request_id,
  ],
  [
    "/v1/chat/completions",
    (text) => ({
      model: "vendora-opus-4-8",
      stream: true,
      messages: [{ role: "user", content: text }],
    }),
    (frame) => frameOf(frame).request_id,
  ],
  [
    "/v1/responses",
    (text) => ({ model: "vendora-opus-4-8", stream: true, input: text }),
    (frame) => frameOf(frame).request_id,
  ],
  [
    "/v1beta/models/vendora-opus-4-8:streamGenerateContent?alt=sse",
    (text) => ({ contents: [{ parts: [{ text }] }] }),
    (frame) =>
      frameOf(frame).error.details.find((one: Record<string, unknown>) =>
        String(one["@type"]).endsWith(".RequestInfo")
      )?.requestId,
  ],
];

function frameOf(text: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(text.replace(/^[^]*?data: /, ""));
}

Deno.test("an error inside a stream has the request's id in every format", async (t) => {
  await using gateway = await startTestGateway();
  gateway.replay.script("broken", streamScript(MID[0]?.[2] ?? []));
  for (const [path, body, at] of STREAMS) {
    await t.step(path, async () => {
      const response = await gateway.post(path, body("[[fx:broken]]"));
      const id = response.headers.get("request-id");
      const failed = (await response.text()).split("\n\n")
        .find((frame) => frame.includes("Overloaded")) ?? "{}";
      assert.equal(typeof id, "string");
      assert.equal(at(failed), id);
    });
  }
});

Deno.test("no upstream header reaches the client", async (t) => {
  await using gateway = await startTestGateway();
  const theirs = {
    "anthropic-ratelimit-requests-limit": "4711",
    "x-ratelimit-remaining-tokens": "4711",
    "request-id": "req_theirs",
    "x-request-id": "req_theirs",
    "anthropic-organization-id": "theirs",
    "openai-organization": "theirs",
    "openai-processing-ms": "4711",
    "set-cookie": "theirs=1",
    server: "theirs",
    via: "theirs",
    "cf-ray": "theirs",
    "access-control-allow-origin": "theirs",
  };
  const reply = { id: "1", choices: [{ message: { content: "a" } }] };
  const scripts = [
    jsonScript(200, reply, theirs),
    jsonScript(400, { error: { message: "bad" } }, theirs),
    streamScript(
      [
        'data: {"id":"1","choices":[{"delta":{"content":"a"}}]}\n\n',
        "data: [DONE]\n\n",
      ],
      "text/event-stream",
      theirs,
    ),
  ];
  for (const [n, script] of scripts.entries()) {
    for (const caller of CALLERS) {
      await t.step(`${caller} ${n}`, async () => {
        const response = await callScripted(gateway, caller, "chat", script, {
          stream: n === 2,
        });
        await response.text();
        for (const [name, value] of response.headers) {
          assert.doesNotMatch(value, /theirs|4711/, name);
        }
      });
    }
  }
});

Deno.test("a quota of a day reaches clients of the vendor's format with its facts, once and without a delay", async () => {
  await using gateway = await startTestGateway();
  const details = [{
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }],
  }];
  gateway.replay.script(
    "daily",
    jsonScript(429, {
      error: {
        code: 429,
        message: "You exceeded your current quota",
        status: "RESOURCE_EXHAUSTED",
        details,
      },
    }),
  );
  const response = await gateway.post(
    "/v1beta/models/vendorc-3-pro:generateContent",
    { contents: [{ parts: [{ text: "[[fx:daily]]" }] }] },
  );
  const { error } = await response.json();
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), null);
  assert.equal(response.headers.get("x-should-retry"), "false");
  assert.deepEqual(error.details.slice(0, 1), details);
  assert.doesNotMatch(JSON.stringify(error), /RetryInfo|your current quota/);
  assert.equal(gateway.replay.requestLog.entries.length, 1);
});
