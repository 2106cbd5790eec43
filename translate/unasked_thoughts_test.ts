/**
 * Reasoning that a generate-content client did not ask to see. Some of its libraries take every
 * part's text for the answer.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "./bytes/json.ts";
import { translateReply, translateRequest, translateStream } from "./mod.ts";

const asked = (fields: JsonObject) =>
  translateRequest({
    body: new TextEncoder().encode(
      JSON.stringify({ contents: [{ parts: [{ text: "q" }] }], ...fields }),
    ),
    from: "generate_content",
    to: "chat_completions",
    model: "up",
    target: { model: "m", stream: true },
  });
const TOOLS = { tools: [{ functionDeclarations: [{ name: "f" }] }] };
const SHOWN = {
  generationConfig: { thinkingConfig: { includeThoughts: true } },
};
const HIDDEN = {
  generationConfig: { thinkingConfig: { thinkingLevel: "low" } },
};

const rows: readonly (readonly [string, JsonObject, boolean])[] = [
  ["a request that says nothing", {}, false],
  ["a request for reasoning alone", HIDDEN, false],
  ["a request for thoughts", SHOWN, true],
  ["a request with tools, whose calls may need the reasoning", TOOLS, true],
];
for (const [name, fields, isShown] of rows) {
  Deno.test(`${name} receives ${isShown ? "thoughts" : "no thoughts"}, whole and streamed`, () => {
    const options = {
      from: "chat_completions",
      to: "generate_content",
      request: asked(fields),
      idSeed: "0123456789abcdef01234567",
      created: 0,
    } as const;
    const message = { reasoning_content: "hm", content: "yes" };
    const encoded = (value: string) => new TextEncoder().encode(value);
    const whole = translateReply(
      options,
      encoded(JSON.stringify({
        choices: [{ index: 0, message, finish_reason: "stop" }],
      })),
    );
    const stream = translateStream(options);
    const frame = (choice: JsonObject) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
    const streamed = [
      stream.push(encoded(
        frame({ delta: { reasoning_content: "hm" } }) +
          frame({ delta: { content: "yes" } }) +
          frame({ delta: {}, finish_reason: "stop" }),
      )),
      stream.end(),
    ];
    for (const reply of [[whole], streamed]) {
      const text = reply.map((bytes) => new TextDecoder().decode(bytes))
        .join("");
      assert.equal(text.includes('{"text":"hm","thought":true'), isShown);
      assert.equal(text.includes("hm"), isShown);
      assert.ok(text.includes('{"text":"yes"}'));
      assert.ok(text.includes('"finishReason":"STOP"'));
    }
  });
}
