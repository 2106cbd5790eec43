/**
 * A key that occurs twice in a body: two parsers may use different values, so the request is
 * refused.
 */
import assert from "node:assert/strict";
import { valueAt } from "../../translate/testing/request_table.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const PATHS: readonly string[] = [
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/chat/completions",
  "/v1/responses",
];
const REST = '"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]';

/** The fault, the key that the error names, and the body. */
const REPEATED: readonly (readonly [string, string, string])[] = [
  [
    "a model named twice",
    "model",
    `{"model":"nope","model":"vendora-haiku-4-5",${REST}}`,
  ],
  [
    "the same value twice, far apart",
    "model",
    `{"model":"vendora-haiku-4-5",${REST},"model":"vendora-haiku-4-5"}`,
  ],
  [
    "a key, once written with an escape",
    "model",
    `{"model":"vendora-haiku-4-5",${REST},"mod\\u0065l":"vendora-opus-4-8"}`,
  ],
  [
    "white space around",
    "stream",
    `{ "stream" : true ,\n\t"model":"vendora-haiku-4-5",${REST}, "stream"\n: false }`,
  ],
  [
    "a key that every object inherits",
    "__proto__",
    `{"__proto__":{"a":1},"model":"vendora-haiku-4-5",${REST},"__proto__":{}}`,
  ],
  [
    "inside a message",
    "messages[0].role",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","role":"system","content":"Hi"}]}',
  ],
  [
    "in a mark of what to cache",
    "messages[0].content[0].cache_control.ttl",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral","ttl":"5m","\\u0074tl":"1h"}}]}]}',
  ],
  [
    "in a tool of the vendor",
    "tools[0].max_uses",
    `{"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":1,"max_uses":99}],"model":"vendora-haiku-4-5",${REST}}`,
  ],
];

/** Bodies in which no key repeats, but in the client's own data. */
const SINGLE: readonly (readonly [string, string])[] = [
  [
    "a key inside a string",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"\\",\\"model\\":\\"a\\",{"}]}',
  ],
  [
    "keys of inner objects, one for each message",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}',
  ],
  [
    "a value equal to a key",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"model"}],"metadata":{"user_id":"model"}}',
  ],
  [
    "a key twice in a tool's schema",
    `{"tools":[{"name":"a","input_schema":{"type":"object","type":"object","properties":{"b":{},"b":{}}}}],"model":"vendora-haiku-4-5",${REST}}`,
  ],
];

Deno.test("a body with a repeated key is a 400 that names the key, and no upstream is called", async (t) => {
  await using gateway = await startTestGateway();
  for (const path of PATHS) {
    for (const [name, key, body] of REPEATED) {
      await t.step(`${path}: ${name}`, async () => {
        const { response, answer, upstreamJson: json } = await send(
          gateway,
          path,
          body,
        );
        assert.equal(response.status, 400);
        assert.equal(valueAt(answer, "error.param"), key);
        assert.equal(json, undefined, "it reached the upstream");
      });
    }
  }
  for (const [name, body] of SINGLE) {
    await t.step(`accepted: ${name}`, async () => {
      const { response } = await send(gateway, "/v1/messages", body);
      assert.equal(response.status, 200);
    });
  }
});
