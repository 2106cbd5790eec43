import assert from "node:assert/strict";
import { ANTHROPIC_FOLDER } from "../../packages/anthropic.ts";
import { declaredTypes } from "./declared_types.ts";

const MESSAGES = {
  library: ANTHROPIC_FOLDER,
  module: "resources/messages/messages.js",
};
const differences = declaredTypes({
  usage: { ...MESSAGES, type: "OutputTokensDetails" },
  block: { ...MESSAGES, type: "ContentBlock" },
  delta: { ...MESSAGES, type: "RawMessageDeltaEvent" },
});
const BLOCK = { type: "text", text: "a", citations: null };

Deno.test("a value of the declared type has no differences", () => {
  assert.deepEqual(differences("usage", { thinking_tokens: 1 }), []);
  assert.deepEqual(differences("block", BLOCK), []);
  const call = { type: "tool_use", id: "a", name: "f", input: [1] };
  const caller = { type: "direct" };
  assert.deepEqual(differences("block", { ...call, caller }), []);
});

Deno.test("what is missing, wrong or not declared is found by its path", () => {
  const rows: readonly [
    Parameters<typeof differences>[0],
    unknown,
    readonly string[],
  ][] = [
    ["usage", {}, ["thinking_tokens lacks"]],
    ["usage", { thinking_tokens: "1" }, ['thinking_tokens is "1"']],
    ["usage", { thinking_tokens: 1, x: 2 }, ["x is not declared"]],
    ["usage", null, [" is null"]],
    ["block", { type: "text", text: "a" }, ["citations lacks"]],
    ["block", { ...BLOCK, text: null }, ["text is null"]],
    ["block", { ...BLOCK, citations: {} }, ["citations is an object"]],
    ["block", { type: "song" }, [' is of type "song"']],
    [
      "block",
      { ...BLOCK, citations: [{ type: "page" }] },
      ['citations[] is of type "page"'],
    ],
    [
      "delta",
      {
        type: "message_delta",
        delta: {
          container: null,
          stop_details: null,
          stop_reason: "tired",
          stop_sequence: null,
        },
        usage: {
          cache_creation_input_tokens: null,
          cache_read_input_tokens: null,
          input_tokens: null,
          output_tokens: 1,
          output_tokens_details: { thinking_tokens: null },
          server_tool_use: null,
        },
      },
      [
        'delta.stop_reason is "tired"',
        "usage.output_tokens_details.thinking_tokens is null",
      ],
    ],
  ];
  for (const [type, value, expected] of rows) {
    assert.deepEqual(
      differences(type, value).map(({ path, says }) => `${path} ${says}`),
      expected,
    );
  }
});

Deno.test("a declaration that does not exist is an error", () => {
  assert.throws(
    () => declaredTypes({ a: { ...MESSAGES, type: "NoSuchType" } }),
    /NoSuchType/,
  );
});
