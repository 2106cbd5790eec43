import assert from "node:assert/strict";
import { parseRequest } from "./parse_request.ts";
import type { JsonObject } from "./json.ts";
import { findMarker } from "./marker.ts";

function markerIn(path: string, body: JsonObject): string | undefined {
  const request = {
    method: "POST",
    path,
    headers: {},
    body: JSON.stringify(body),
  };
  return parseRequest(request).marker?.name;
}

Deno.test("findMarker() reads name, parameters and nonce of the last marker", () => {
  assert.deepEqual(
    findMarker("[[fx:a]] and [[fx:cut-chunk?frames=2&cr#n-1]]"),
    {
      text: "[[fx:cut-chunk?frames=2&cr#n-1]]",
      name: "cut-chunk",
      params: { frames: "2", cr: "" },
      nonce: "n-1",
    },
  );
  assert.equal(findMarker("[[fx:]] [fx:a] [[fx:a"), undefined);
});

Deno.test("parseRequest() finds the marker in the last user turn of messages", () => {
  const turns = [
    { role: "user", content: "[[fx:old]]" },
    { role: "assistant", content: "[[fx:mine]]" },
    {
      role: "user",
      content: [{ type: "image" }, { type: "text", text: "x [[fx:new]]" }],
    },
  ];
  assert.equal(markerIn("/v1/messages", { messages: turns }), "new");
  assert.equal(
    markerIn("/v1/messages", { messages: turns.slice(0, 2) }),
    undefined,
  );
});

Deno.test("parseRequest() finds the marker in a tool result of each dialect", () => {
  const result = {
    type: "tool_result",
    content: [{ type: "text", text: "[[fx:m]]" }],
  };
  assert.equal(
    markerIn("/v1/messages", {
      messages: [{ role: "user", content: [result] }],
    }),
    "m",
  );
  const tool = { role: "tool", tool_call_id: "1", content: "[[fx:c]]" };
  assert.equal(markerIn("/chat/completions", { messages: [tool] }), "c");
  const response = {
    functionResponse: { name: "f", response: { output: "[[fx:g]]" } },
  };
  const contents = [{ role: "user", parts: [response] }];
  assert.equal(markerIn("/v1beta/models/m:generateContent", { contents }), "g");
});

Deno.test("parseRequest() does not look for the marker in system texts", () => {
  const messages = [{ role: "user", content: "hi" }, {
    role: "developer",
    content: "[[fx:a]]",
  }];
  assert.equal(
    markerIn("/chat/completions", { system: "[[fx:a]]", messages }),
    undefined,
  );
});

const PATHS = [
  ["POST", "/v1/messages", "messages", "generate"],
  ["POST", "/anthropic/v1/messages?beta=true", "messages", "generate"],
  ["POST", "/v1/messages/count_tokens", "messages", "count_tokens"],
  ["POST", "/any/v1/chat/completions", "chat_completions", "generate"],
  [
    "POST",
    "/v1beta/models/a%20b:generateContent",
    "generate_content",
    "generate",
  ],
  [
    "POST",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    "generate_content",
    "generate",
  ],
  ["POST", "/v1beta/models/m:countTokens", "generate_content", "count_tokens"],
  ["GET", "/v1/models", "chat_completions", "models"],
  ["GET", "/v1beta/models", "generate_content", "models"],
  ["GET", "/v1/messages", "messages", "unknown"],
  ["POST", "/v1/embeddings", "chat_completions", "embed"],
] as const;

for (const [method, path, dialect, operation] of PATHS) {
  Deno.test(`parseRequest() reads ${method} ${path} as ${operation} in ${dialect}`, () => {
    const call = parseRequest({ method, path, headers: {}, body: "" });
    assert.deepEqual([call.dialect, call.operation], [dialect, operation]);
  });
}

Deno.test("parseRequest() reads a generate content stream without alt=sse as an array", () => {
  const streamOf = (path: string): unknown => {
    const call = parseRequest({
      method: "POST",
      path,
      headers: {},
      body: "{}",
    });
    return [call.streamed, call.asArray, call.model];
  };
  assert.deepEqual(streamOf("/v1beta/models/a%20b:streamGenerateContent"), [
    true,
    true,
    "a b",
  ]);
  assert.deepEqual(streamOf("/v1beta/models/m:streamGenerateContent?alt=sse"), [
    true,
    false,
    "m",
  ]);
  assert.deepEqual(streamOf("/v1beta/models/m:generateContent"), [
    false,
    false,
    "m",
  ]);
});

Deno.test("parseRequest() accepts any body without throwing", () => {
  for (
    const body of [
      "",
      "{",
      "null",
      "[]",
      '"x"',
      '{"messages":[null,1,{"content":[null]}]}',
    ]
  ) {
    parseRequest({ method: "POST", path: "/v1/messages", headers: {}, body });
  }
});
