import assert from "node:assert/strict";
import { applyEdits } from "./apply_edits.ts";
import { modelSpan } from "./model_splice.ts";

function spliced(frame: string, key?: string): string {
  const bytes = new TextEncoder().encode(frame);
  const span = modelSpan(bytes, key);
  const model = new TextEncoder().encode('"m"');
  return new TextDecoder().decode(
    applyEdits(bytes, span === undefined ? [] : [{ ...span, bytes: model }]),
  );
}

Deno.test("modelSpan() finds a top-level model at any position", async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['data: {"id":"1","model":"x"}\n\n', 'data: {"id":"1","model":"m"}\n\n'],
    ['data:{"model" : "x\\"y"}', 'data:{"model" : "m"}'],
    [
      'data: {"choices":[{"delta":{"content":"\\"model\\":\\"x\\""}}],"model":"x"}',
      'data: {"choices":[{"delta":{"content":"\\"model\\":\\"x\\""}}],"model":"m"}',
    ],
    [
      'data: {"object":"model","choices":[{"model":"x"}],"model":"x"}',
      'data: {"object":"model","choices":[{"model":"x"}],"model":"m"}',
    ],
    [
      'data: {"\ufeffmodel":"y","mod\\u0065l":"x"}',
      'data: {"\ufeffmodel":"y","mod\\u0065l":"m"}',
    ],
    [
      'data: {"id":"1",\r\ndata: "model":"x"}',
      'data: {"id":"1",\r\ndata: "model":"m"}',
    ],
    [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"1","usage":{"model":"x"},"model":"x"}}',
      'event: message_start\ndata: {"type":"message_start","message":{"id":"1","usage":{"model":"x"},"model":"m"}}',
    ],
  ];
  for (const [frame, wanted] of rows) {
    await t.step(frame, () => assert.equal(spliced(frame), wanted));
  }
});

Deno.test("modelSpan() ignores other keys called model", async (t) => {
  for (
    const frame of [
      'data: {"model":""}',
      'data: {"model":null,"id":"x"}',
      'data: {"type":"content_block_start","content_block":{"input":{"model":"x"}}}',
      'data: {"type":"content_block_start","content_block":{"model":"x"}}',
      'data: {"model',
      "data: [DONE]\n\n",
    ]
  ) await t.step(frame, () => assert.equal(spliced(frame), frame));
});

Deno.test("modelSpan() finds the value of another key", () => {
  const frame = 'data: {"role":"model","model":"x","modelVersion":"y"}';
  assert.equal(
    spliced(frame, "modelVersion"),
    'data: {"role":"model","model":"x","modelVersion":"m"}',
  );
});
