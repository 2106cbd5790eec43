import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { isUnrequestedUsage, passThroughFields } from "./include_usage.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";

const CAN = DEFAULT_CAPABILITIES.chat_completions;

Deno.test("passThroughFields() requests usage if a streaming client did not", async (t) => {
  const asked = { stream_options: { include_usage: true } };
  const rows: [Record<string, unknown>, unknown][] = [
    [{}, {}],
    [{ stream: false }, {}],
    [{ stream: true }, asked],
    [{ stream: true, stream_options: null }, asked],
    [{ stream: true, stream_options: { include_usage: false } }, asked],
    [{ stream: true, stream_options: { include_usage: true } }, {}],
    [{ stream: true, stream_options: { include_obfuscation: false } }, {
      stream_options: { include_obfuscation: false, include_usage: true },
    }],
  ];
  for (const [body, expected] of rows) {
    await t.step(JSON.stringify(body), () => {
      assert.deepEqual(passThroughFields(body, CAN), expected);
      assert.deepEqual(
        passThroughFields(body, { ...CAN, includeUsage: false }),
        {},
      );
    });
  }
});

Deno.test("a usage chunk is unrequested if the client did not ask for it", async (t) => {
  const context = { ...ENCODE_CONTEXT, idSeed: "x", inputEstimate: 0 };
  const rows: [string, boolean][] = [
    ['{"choices":[],"usage":{"prompt_tokens":1}}', true],
    ['{"usage":{"prompt_tokens":1}, "choices" : [ ]}', true],
    ['{"choices":[],"usage":null}', false],
    ['{"choices":[],"prompt_filter_results":[]}', false],
    ['{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}', false],
    [
      '{"choices":[{"delta":{"content":"\\"choices\\":[]"}}],"usage":{}}',
      false,
    ],
    ["[DONE]", false],
    ["", false],
  ];
  for (const [data, expected] of rows) {
    await t.step(data, () => {
      assert.equal(isUnrequestedUsage({ data }, context), expected);
      assert.equal(
        isUnrequestedUsage({ data }, { ...context, wantUsage: true }),
        false,
      );
    });
  }
});
