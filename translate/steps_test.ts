/** A long conversation is read and written in steps of bounded length, in every format. */
import assert from "node:assert/strict";
import { encodeText } from "./bytes/buffers.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import type { JsonObject } from "./bytes/json.ts";
import type { Dialect } from "./dialect.ts";
import { upstreamDialect } from "./dialects.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import type { DialectName } from "./model/request.ts";
import { mapEach, type Steps, visitEach } from "./steps.ts";
import { readRequest } from "./stream/read_request.ts";
import { unwrittenRequest } from "./upstream_request.ts";

const TURNS = 4_000;
/** Half of the turns that a step may read or write. */
const LEAST_STEPS = TURNS / 512;

const texts = Array.from({ length: TURNS }, (_, i) => String(i));
const isReply = (at: number): boolean => at % 2 === 1;
const chatTurns = texts.map((content, at) => ({
  role: isReply(at) ? "assistant" : "user",
  content,
}));

const BODIES: readonly (readonly [Dialect, JsonObject])[] = [
  [chatCompletions, { model: "m", messages: chatTurns }],
  [messages, { model: "m", max_tokens: 9, messages: chatTurns }],
  [responses, { model: "m", store: false, input: chatTurns }],
  [generateContent, {
    contents: texts.map((text, at) => ({
      role: isReply(at) ? "model" : "user",
      parts: [{ text }],
    })),
  }],
];
const UPSTREAMS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "generate_content",
  "responses",
  "converse",
];

function counted<Result>(
  steps: Steps<Result>,
): { readonly result: Result; readonly count: number } {
  for (let count = 1;; count++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, count };
  }
}

for (const [dialect, body] of BODIES) {
  Deno.test(`a long ${dialect.name} conversation is read and written in steps`, async (t) => {
    const { result: request, count } = counted(
      readRequest(body, dialect.decodeRequest, dialect.checkPassable),
    );
    assert.equal(request.turns.length, TURNS);
    assert.ok(count >= LEAST_STEPS, `read in ${count} steps`);
    const bytes = encodeText(JSON.stringify(body));
    for (const to of UPSTREAMS.filter((to) => to !== dialect.name)) {
      await t.step(`to ${to}`, () => {
        const { count } = counted(
          unwrittenRequest(
            { dialect, bytes, body, top: topLevelOf(bytes), request },
            upstreamDialect(to),
            "m",
            DEFAULT_CAPABILITIES[to],
          ),
        );
        assert.ok(count >= LEAST_STEPS, `written in ${count} steps`);
      });
    }
  });
}

Deno.test("mapEach() and visitEach() keep the order and pause between long runs", () => {
  const { result, count } = counted(
    mapEach(texts, (text, at) => `${text}-${at}`),
  );
  assert.deepEqual(result, texts.map((text, at) => `${text}-${at}`));
  assert.ok(count >= LEAST_STEPS);
  assert.equal(counted(visitEach(["a"], () => {})).count, 1);
});
