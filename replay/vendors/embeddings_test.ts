import assert from "node:assert/strict";
import { answer } from "../answer.ts";
import type { Script } from "../script.ts";

function ask(path: string, body: unknown): Script {
  return answer({
    method: "POST",
    path,
    headers: {},
    body: JSON.stringify(body),
  });
}

const chat = (body: object) =>
  ask("/v1/embeddings", { model: "e", input: "a text", ...body });

Deno.test("the same model and text have the same vector, of length 1", () => {
  assert.deepEqual(chat({}), chat({}));
  assert.notDeepEqual(chat({}), chat({ input: "another" }));
  assert.notDeepEqual(chat({}), chat({ model: "f" }));
});

for (
  const body of [
    { input: "" },
    { input: [] },
    { input: ["a", ""] },
    { input: [1.5] },
    { input: null },
    { dimensions: 0 },
    { dimensions: 4097 },
    { model: "" },
  ]
) {
  Deno.test(`embeddings are refused for ${JSON.stringify(body)}`, () => {
    assert.equal(chat(body).status, 400);
  });
}

Deno.test("embeddings in the form of generate content need texts", () => {
  const path = "/v1beta/models/e:batchEmbedContents";
  const request = { content: { parts: [{ text: "a" }] } };
  assert.equal(ask(path, { requests: [request] }).status, 200);
  assert.equal(ask(path, { requests: [] }).status, 400);
  assert.equal(ask(path, { requests: [{}] }).status, 400);
});
