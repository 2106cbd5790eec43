/** A key that stands twice in a body: two readers may take different ones, so neither is taken. */
import assert from "node:assert/strict";
import { at, sent } from "./request_arrival.ts";
import { startTestGateway } from "./test_gateway.ts";

const PATHS: readonly string[] = [
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/chat/completions",
];
const REST = '"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]';

/** What is wrong, the key that is named, the body. */
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
    "a key that is escaped once",
    "model",
    `{"model":"vendora-haiku-4-5",${REST},"mod\\u0065l":"vendora-opus-4-8"}`,
  ],
  [
    "blanks around",
    "stream",
    `{ "stream" : true ,\n\t"model":"vendora-haiku-4-5",${REST}, "stream"\n: false }`,
  ],
  [
    "a key that objects have anyway",
    "__proto__",
    `{"__proto__":{"a":1},"model":"vendora-haiku-4-5",${REST},"__proto__":{}}`,
  ],
];

/** Bodies in which no top-level key repeats. */
const SINGLE: readonly (readonly [string, string])[] = [
  [
    "a key inside a text",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"\\",\\"model\\":\\"a\\",{"}]}',
  ],
  [
    "keys of inner objects, one for each message",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}',
  ],
  [
    "a value that is a key's name",
    '{"model":"vendora-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"model"}],"metadata":{"user_id":"model"}}',
  ],
];

Deno.test("a body with a top-level key twice is a 400 that names it, and nobody is called", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (const path of PATHS) {
      for (const [name, key, body] of REPEATED) {
        await t.step(`${path}: ${name}`, async () => {
          const { response, answer, json } = await sent(gateway, path, body);
          assert.equal(response.status, 400);
          assert.equal(at(answer, "error.param"), key);
          assert.equal(json, undefined, "it reached the upstream");
        });
      }
    }
    for (const [name, body] of SINGLE) {
      await t.step(`taken: ${name}`, async () => {
        const { response } = await sent(gateway, "/v1/messages", body);
        assert.equal(response.status, 200);
      });
    }
  } finally {
    await gateway.close();
  }
});
