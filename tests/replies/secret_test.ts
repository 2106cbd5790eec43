/** An upstream that repeats the gateway's key in an error: no client ever receives the key. */
import assert from "node:assert/strict";
import {
  jsonScript,
  type Script,
  streamScript,
  wholeScript,
} from "../../replay/mod.ts";
import {
  CALLERS,
  callScripted,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

/** The key that the gateway sends to the replay server. */
const KEY = "replay";

const STARTS: Readonly<Record<UpstreamFormat, string>> = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
  chat:
    'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\r\n\r\n',
};

function failure(upstream: UpstreamFormat): object {
  const message = `cannot use key ${KEY} or Bearer ${KEY}`;
  const error = upstream === "gemini"
    ? { code: 500, message, status: "INTERNAL" }
    : {
      type: "api_error",
      message,
      code: `no_${KEY}`,
      param: KEY,
      details: { error_code: "x", [KEY]: [`https://x/?key=${KEY}`] },
      misalignment: { steer: { message: KEY } },
    };
  return upstream === "messages" ? { type: "error", error } : { error };
}

function scripts(
  upstream: UpstreamFormat,
): readonly (readonly [string, boolean, Script])[] {
  const body = failure(upstream);
  const frame = `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  return [
    ["an error status, not streamed", false, jsonScript(400, body)],
    ["an error status, streamed", true, jsonScript(500, body)],
    ["an HTML page", false, wholeScript(502, "text/html", `<p>key ${KEY}</p>`)],
    ["a whole reply", false, jsonScript(200, body)],
    ["a whole reply to a streamed call", true, jsonScript(200, body)],
    ["a stream's first frame", true, streamScript([frame])],
    [
      "a stream's later frame",
      true,
      streamScript([STARTS[upstream], frame]),
    ],
    [
      "a stream to a call that is not streamed",
      false,
      streamScript([STARTS[upstream], frame]),
    ],
  ];
}

Deno.test("a key that an upstream repeats in an error is removed, wherever the error occurs", async (t) => {
  await using gateway = await startTestGateway();
  for (const upstream of ["messages", "chat", "gemini"] as const) {
    for (const caller of CALLERS) {
      for (const [name, stream, script] of scripts(upstream)) {
        await t.step(`${name}: ${caller} from ${upstream}`, async () => {
          const response = await callScripted(
            gateway,
            caller,
            upstream,
            script,
            { stream },
          );
          const body = await response.text();
          assert.ok(body.includes("[removed]"), body);
          assert.ok(!body.includes(KEY), body);
        });
      }
    }
  }
});

Deno.test("a key that an upstream repeats in a whole reply is removed, and the log states it", async (t) => {
  const apiKey = "vendor-key-0123456789";
  const reply = {
    id: "1",
    choices: [{
      index: 0,
      message: { role: "assistant", content: `é ${apiKey} ${apiKey}.` },
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  };
  await using upstream = serveLoopback(() => Response.json(reply));
  await using gateway = await startTestGateway({
    access: {
      vendorb: { baseUrl: `http://127.0.0.1:${upstream.addr.port}`, apiKey },
    },
  });
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    for (const stream of [false, true]) {
      await t.step(`${path}, stream: ${stream}`, async () => {
        const response = await gateway.post(path, {
          model: "vendorb-5",
          max_tokens: 9,
          stream,
          messages: [{ role: "user", content: "Hi" }],
        });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.ok(text.includes("é [removed] [removed]."), text);
        assert.match(gateway.logged.at(-1)?.note ?? "", /its own key/);
      });
    }
  }
});

Deno.test("a key that an upstream repeats in a stream is removed, also across chunks, and the log states it", async (t) => {
  const apiKey = "vendor-key-0123456789";
  const frames = [
    `data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"é ${apiKey} and vendor-key"},"finish_reason":null}]}\n\n`,
    'data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n',
    "data: [DONE]\n\n",
  ].join("");
  const bytes = new TextEncoder().encode(frames);
  let cutAt = 0;
  await using upstream = serveLoopback(() => {
    const pieces = [bytes.subarray(0, cutAt), bytes.subarray(cutAt)];
    return new Response(
      new ReadableStream({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  await using gateway = await startTestGateway({
    access: {
      vendorb: { baseUrl: `http://127.0.0.1:${upstream.addr.port}`, apiKey },
    },
  });
  const start = frames.indexOf(apiKey) + 1;
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    for (const cut of [0, start, start + 5, start + apiKey.length]) {
      await t.step(`${path}, cut at ${cut}`, async () => {
        cutAt = cut;
        const response = await gateway.post(path, {
          model: "vendorb-5",
          max_tokens: 9,
          stream: true,
          messages: [{ role: "user", content: "Hi" }],
        });
        const text = await response.text();
        assert.ok(text.includes("é [removed] and vendor-key"), text);
        assert.ok(!text.includes(apiKey), text);
        assert.match(gateway.logged.at(-1)?.note ?? "", /its own key/);
      });
    }
  }
});
