import assert from "node:assert/strict";
import { cleanRequest } from "./clean_request.ts";

Deno.test("cleanRequest() has nothing to do for what this dialect's own upstreams said", () => {
  for (
    const body of [
      {},
      { messages: "x" },
      { messages: [null, { role: "user", content: "x" }] },
      {
        messages: [{
          role: "assistant",
          content: [
            { type: "thinking", thinking: "", signature: "S" },
            { type: "redacted_thinking", data: "R" },
            { type: "tool_use", id: "a", name: "f", input: {} },
          ],
        }],
      },
    ]
  ) assert.equal(cleanRequest(body), undefined);
});

Deno.test("cleanRequest() takes out other dialects' signatures and unsigned reasoning, and nothing else", () => {
  const kept = { role: "user", content: [{ type: "text", text: "a", x: 1 }] };
  const body = {
    model: "m",
    unknown: { y: 1 },
    messages: [
      kept,
      {
        role: "assistant",
        extra: 1,
        content: [
          { type: "thinking", thinking: "hm", signature: "" },
          { type: "thinking", thinking: "hm" },
          { type: "thinking", thinking: "", signature: "S" },
          {
            type: "tool_use",
            id: "a",
            name: "f",
            input: { extra_content: 1 },
            extra_content: { google: { thought_signature: "G" } },
          },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "hm", signature: null }],
      },
    ],
  };
  const before = structuredClone(body);
  const cleaned = cleanRequest(body);
  assert.deepEqual(cleaned, {
    model: "m",
    unknown: { y: 1 },
    messages: [
      kept,
      {
        role: "assistant",
        extra: 1,
        content: [
          { type: "thinking", thinking: "", signature: "S" },
          { type: "tool_use", id: "a", name: "f", input: { extra_content: 1 } },
        ],
      },
    ],
  });
  assert.deepEqual(body, before, "the caller's body was written to");
});
