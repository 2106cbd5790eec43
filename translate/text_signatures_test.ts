/**
 * Signatures of texts: Gemini puts one on the last part of an answer, in a stream on an empty one,
 * and Google's chat endpoint beside the content.
 */
import assert from "node:assert/strict";
import { objectOr } from "./bytes/json.ts";
import type { Dialect } from "./dialect.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { translateRequest, translateStream } from "./mod.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "./model/capabilities.ts";
import { KEEPING_CLIENTS } from "./testing/kept_history.ts";
import { streamed, whole } from "./testing/relayed.ts";

const CHAT = DEFAULT_CAPABILITIES.chat_completions;
const EXTRA = { google: { thought_signature: "SIG" } };
const FRAMES = [
  { choices: [{ index: 0, delta: { content: "yes" } }] },
  {
    choices: [{
      index: 0,
      delta: { extra_content: EXTRA },
      finish_reason: "stop",
    }],
  },
];
const MESSAGE = { role: "assistant", content: "yes", extra_content: EXTRA };
const REPLY = {
  choices: [{ index: 0, message: MESSAGE, finish_reason: "stop" }],
};

/** The assistant's message of the next request, and what was dropped. */
function returned(
  { name }: Dialect,
  kept: readonly object[],
  capabilities: Capabilities,
) {
  const from = name as keyof typeof KEEPING_CLIENTS;
  const client = KEEPING_CLIENTS[from];
  const { bytes, dropped } = translateRequest({
    body: new TextEncoder().encode(JSON.stringify(client.request([
      ...client.ask("go"),
      ...kept.map(objectOr),
      ...client.ask("more"),
    ]))),
    from,
    to: "chat_completions",
    model: "up",
    capabilities,
    ...(from === "generate_content"
      ? { target: { model: "m", stream: true } }
      : {}),
  });
  const body = JSON.parse(new TextDecoder().decode(bytes));
  return { message: body.messages[1], dropped };
}

for (const client of [messages, chatCompletions, responses, generateContent]) {
  const keeping = KEEPING_CLIENTS[client.name as keyof typeof KEEPING_CLIENTS];
  Deno.test(`a text's signature returns from ${client.name} to hosts that take it, and to no other`, () => {
    const replies = [keeping.kept(whole("chat_completions", client, REPLY))];
    // A stream of the messages format has no place for it.
    if (client !== messages) {
      replies.push(
        keeping.keptFrames(streamed("chat_completions", client, FRAMES)),
      );
    }
    for (const kept of replies) {
      const google = returned(client, kept, { ...CHAT, proofFields: "google" });
      assert.deepEqual(google.message.extra_content, EXTRA);
      assert.equal(google.message.content, "yes");
      const other = returned(client, kept, { ...CHAT, proofFields: "none" });
      assert.equal("extra_content" in other.message, false);
      assert.ok(!other.dropped.some((path) => path.includes("extra_content")));
    }
  });
}

const THOUGHT = {
  candidates: [{
    content: {
      role: "model",
      parts: [{ text: "hm", thought: true, thoughtSignature: "SIG" }, {
        text: "yes",
      }],
    },
    finishReason: "STOP",
  }],
};
for (const client of [messages, chatCompletions, responses]) {
  const from = client.name as keyof typeof KEEPING_CLIENTS;
  const keeping = KEEPING_CLIENTS[from];
  Deno.test(`a thought's signature returns from ${from} to Gemini`, () => {
    for (
      const kept of [
        keeping.kept(whole("generate_content", client, THOUGHT)),
        keeping.keptFrames(streamed("generate_content", client, [THOUGHT])),
      ]
    ) {
      const { bytes } = translateRequest({
        body: new TextEncoder().encode(JSON.stringify(keeping.request([
          ...keeping.ask("go"),
          ...kept,
          ...keeping.ask("more"),
        ]))),
        from,
        to: "generate_content",
        model: "up",
      });
      const { contents } = JSON.parse(new TextDecoder().decode(bytes));
      const [signed, answer] = contents[1].parts;
      assert.deepEqual(answer, { text: "yes" });
      assert.equal(signed.thought, true);
      assert.equal(signed.thoughtSignature, "SIG");
    }
  });
}

Deno.test("a text's signature of the vendor's own is named where the host does not take it", () => {
  const { message, dropped } = returned(chatCompletions, [MESSAGE], {
    ...CHAT,
    proofFields: "none",
  });
  assert.equal("extra_content" in message, false);
  assert.deepEqual(dropped, ["messages[].extra_content"]);
});

Deno.test("a stream of the messages format names a text's signature as lost", () => {
  const request = translateRequest({
    body: new TextEncoder().encode(
      JSON.stringify(
        KEEPING_CLIENTS.messages.request(KEEPING_CLIENTS.messages.ask("go")),
      ),
    ),
    from: "messages",
    to: "chat_completions",
    model: "up",
  });
  const relay = translateStream({
    from: "chat_completions",
    to: "messages",
    request,
    idSeed: "0123456789abcdefghijABCD",
    created: 0,
  });
  for (const frame of FRAMES) {
    relay.push(
      new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`),
    );
  }
  relay.end();
  const { lost, isAnswerLost } = relay.progress();
  assert.deepEqual([lost, isAnswerLost], [["thoughtSignature"], undefined]);
});
