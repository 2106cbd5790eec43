/**
 * Replies that look complete and are not: words of failure, arguments that do not parse, whole
 * replies without an ending. Every client of another format learns it; the same format passes.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "./bytes/json.ts";
import { ApiError } from "./model/error.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import type { DialectName } from "./model/request.ts";
import { streamed, whole } from "./testing/relayed.ts";

const CLIENTS = [messages, chatCompletions, responses, generateContent];

interface Reply {
  readonly from: DialectName;
  readonly body: JsonObject;
  readonly frames: readonly JsonObject[];
}

function chat(message: JsonObject, word: string): Reply {
  const calls = message["tool_calls"];
  const delta = Array.isArray(calls)
    ? {
      ...message,
      tool_calls: calls.map((call, index) => ({ index, ...call })),
    }
    : message;
  return {
    from: "chat_completions",
    body: { id: "c", choices: [{ index: 0, message, finish_reason: word }] },
    frames: [
      { id: "c", choices: [{ index: 0, delta }] },
      { id: "c", choices: [{ index: 0, delta: {}, finish_reason: word }] },
    ],
  };
}

function message(word: string): Reply {
  const block = { type: "text", text: "As far" };
  return {
    from: "messages",
    body: {
      id: "m",
      type: "message",
      role: "assistant",
      content: [block],
      stop_reason: word,
      usage: {},
    },
    frames: [
      { type: "message_start", message: { id: "m", content: [] } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: word } },
      { type: "message_stop" },
    ],
  };
}

function candidate(word: string): Reply {
  const body = {
    candidates: [{
      content: { role: "model", parts: [{ text: "As far" }] },
      finishReason: word,
    }],
  };
  return { from: "generate_content", body, frames: [body] };
}

function response(reason: string): Reply {
  const body = {
    id: "r",
    status: "incomplete",
    incomplete_details: { reason },
    output: [{
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "As far" }],
    }],
  };
  return {
    from: "responses",
    body,
    frames: [{ type: "response.incomplete", response: body }],
  };
}

const TEXT = { role: "assistant", content: "As far" };
const FAILED: Readonly<Record<string, Reply>> = {
  "chat, abort": chat(TEXT, "abort"),
  "chat, network_error": chat(TEXT, "network_error"),
  "chat, insufficient_system_resource": chat(
    TEXT,
    "insufficient_system_resource",
  ),
  "chat, function_call_filter": chat(
    TEXT,
    "function_call_filter: MALFORMED_FUNCTION_CALL",
  ),
  "chat, a word of the object": chat(TEXT, "constructor"),
  "messages, never_heard_of": message("never_heard_of"),
  "candidate, MALFORMED_FUNCTION_CALL": candidate("MALFORMED_FUNCTION_CALL"),
  "candidate, NEVER_HEARD_OF": candidate("NEVER_HEARD_OF"),
  "response, never_heard_of": response("never_heard_of"),
};

for (const [name, { from, body, frames }] of Object.entries(FAILED)) {
  Deno.test(`a word that means or may mean a failure is one: ${name}`, () => {
    for (const client of CLIENTS) {
      if (client.name === from) continue;
      assert.throws(
        () => whole(from, client, body),
        (error) => error instanceof ApiError && error.kind === "upstream",
        client.name,
      );
      const last = JSON.stringify(streamed(from, client, frames).at(-1));
      assert.match(last, /"error"|response\.failed/, client.name);
    }
  });
}

for (const stopReason of ["malformed_model_output", "malformed_tool_use"]) {
  Deno.test(`Converse's ${stopReason} is a failure`, () => {
    for (const client of CLIENTS) {
      assert.throws(
        () =>
          whole("converse", client, {
            output: { message: { content: [{ text: "As far" }] } },
            stopReason,
          }),
        new RegExp(stopReason),
      );
    }
  });
}

Deno.test("a filter's word with its reason is a refusal", () => {
  const { body } = chat(TEXT, "content_filter: RECITATION");
  assert.equal(
    whole("chat_completions", messages, body)["stop_reason"],
    "refusal",
  );
});

function calling(args: string, word = "tool_calls"): Reply {
  return chat({
    role: "assistant",
    content: null,
    tool_calls: [{
      id: "call_1",
      type: "function",
      function: { name: "exec", arguments: args },
    }],
  }, word);
}

for (const word of ["tool_calls", "stop"]) {
  Deno.test(`a call whose arguments do not parse is an incomplete end (${word})`, () => {
    const { from, body, frames } = calling('{"cmd":"echo 12', word);
    const expected: readonly (readonly [typeof CLIENTS[number], string])[] = [
      [messages, '"stop_reason":"max_tokens"'],
      [responses, '"incomplete_details":{"reason":"max_output_tokens"}'],
      [generateContent, '"finishReason":"MAX_TOKENS"'],
      [chatCompletions, '"finish_reason":"length"'],
    ];
    for (const [client, end] of expected) {
      const reply = JSON.stringify(whole(from, client, body));
      assert.ok(reply.includes(end), `${client.name}, whole: ${reply}`);
      const stream = JSON.stringify(streamed(from, client, frames));
      assert.ok(stream.includes(end), `${client.name}, streamed: ${stream}`);
    }
    const { body: good } = calling('{"cmd":"ls"}', word);
    assert.equal(whole(from, messages, good)["stop_reason"], "tool_use");
    const { body: none } = calling("", word);
    assert.equal(whole(from, messages, none)["stop_reason"], "tool_use");
  });
}

const UNENDED: Readonly<Record<string, readonly [DialectName, JsonObject]>> = {
  "finish_reason null": ["chat_completions", {
    id: "c",
    choices: [{ index: 0, message: TEXT, finish_reason: null }],
  }],
  "stop_reason null": ["messages", {
    ...message("end_turn").body,
    stop_reason: null,
  }],
  "finishReason absent": ["generate_content", {
    candidates: [{
      content: { role: "model", parts: [{ text: "half an ans" }] },
      index: 0,
    }],
  }],
};

for (const [name, [from, body]] of Object.entries(UNENDED)) {
  Deno.test(`a whole reply without an ending is an error: ${name}`, () => {
    for (const client of CLIENTS) {
      assert.throws(
        () => whole(from, client, body),
        /without an ending/,
        client.name,
      );
    }
  });
}
