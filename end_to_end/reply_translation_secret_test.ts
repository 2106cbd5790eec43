/** An upstream that repeats the gateway's key when it fails: no caller ever reads it. */
import assert from "node:assert/strict";
import {
  jsonScript,
  type Script,
  streamScript,
  wholeScript,
} from "../conformance/replay.ts";
import { answered, CALLERS, type UpstreamFormat } from "./reply_script.ts";
import { startTestGateway } from "./test_gateway.ts";

/** The key that the replay server gets. */
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
    : { type: "api_error", message, code: `no_${KEY}`, param: KEY };
  return upstream === "messages" ? { type: "error", error } : { error };
}

function scripts(
  upstream: UpstreamFormat,
): readonly (readonly [string, boolean, Script])[] {
  const body = failure(upstream);
  const frame = `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  return [
    ["a status, whole", false, jsonScript(400, body)],
    ["a status, streamed", true, jsonScript(500, body)],
    ["a page", false, wholeScript(502, "text/html", `<p>key ${KEY}</p>`)],
    ["a whole reply", false, jsonScript(200, body)],
    ["a whole reply to a stream", true, jsonScript(200, body)],
    ["a stream's first frame", true, streamScript([frame])],
    [
      "a stream's later frame",
      true,
      streamScript([STARTS[upstream], frame]),
    ],
    ["a stream to a whole", false, streamScript([STARTS[upstream], frame])],
  ];
}

Deno.test("a key that an upstream repeats in an error is taken out, wherever the error stands", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (const upstream of ["messages", "chat", "gemini"] as const) {
      for (const caller of CALLERS) {
        for (const [name, stream, script] of scripts(upstream)) {
          await t.step(`${name}: ${caller} from ${upstream}`, async () => {
            const response = await answered(
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
  } finally {
    await gateway.close();
  }
});
