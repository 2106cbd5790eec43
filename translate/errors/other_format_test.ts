import assert from "node:assert/strict";
import { decodeRequest as decodeChat } from "../formats/chat_completions/decode_request.ts";
import { ApiError } from "../model/error.ts";
import {
  decodeCountTokens,
  decodeRequest as decodeMessages,
} from "../formats/messages/decode_request.ts";
import {
  assistant,
  calling,
  chatCall,
  chatTool,
  imageAt,
  messagesOf,
  toolMessage,
  toolResult,
  toolUse,
  user,
} from "../testing/request_samples.ts";
import { atOnce, type Steps } from "../steps.ts";
import { refusalOf } from "../testing/refusal_of.ts";

const TURN = user("Hi");
const CHAT_TOOL = chatTool("f", { type: "object" });
const MESSAGES_TOOL = { name: "f", input_schema: { type: "object" } };

function refusal(
  decode: (body: unknown) => Steps<unknown>,
  fields: object,
): ApiError {
  return refusalOf(() =>
    atOnce(decode({ model: "m", max_tokens: 5, messages: [TURN], ...fields }))
  );
}

Deno.test("the message format names parts in the chat-completion format's shape", async (t) => {
  const rows: readonly (readonly [string, object, RegExp])[] = [
    [
      "tools[1]",
      { tools: [MESSAGES_TOOL, CHAT_TOOL] },
      /^tools\[1\]: is in the chat-completion format's shape; here a tool is \{"name": …, "description": …, "input_schema": \{…\}\}\. Requests in the chat-completion format go to POST \/v1\/chat\/completions$/,
    ],
    ["tools[0]", { tools: [{ function: { name: "f" } }] }, /input_schema/],
    ["tool_choice", { tool_choice: "auto" }, /here it is \{"type": "auto"\}/],
    [
      "tool_choice",
      { tool_choice: chatTool("f") },
      /\{"type": "tool", "name": …\}/,
    ],
    [
      "messages[1]",
      messagesOf(TURN, calling(null, chatCall("c"))),
      /here a call is a tool_use block/,
    ],
    [
      "messages[1]",
      messagesOf(TURN, toolMessage("c", "1")),
      /here a tool's result is a tool_result block in a user message/,
    ],
    [
      "messages[0].content[0]",
      messagesOf(user({ type: "image_url", image_url: { url: "data:," } })),
      /here a picture is \{"type": "image", "source": \{…\}\}/,
    ],
  ];
  for (const decode of [decodeMessages, decodeCountTokens]) {
    for (const [param, fields, message] of rows) {
      await t.step(`${decode.name}: ${param}`, () => {
        const error = refusal(decode, fields);
        assert.equal(error.details.param, param);
        assert.match(error.message, message);
      });
    }
  }
});

Deno.test("the chat-completion format names parts in the message format's shape", async (t) => {
  const rows: readonly (readonly [string, object, RegExp])[] = [
    [
      "tools[0]",
      { tools: [MESSAGES_TOOL] },
      /^tools\[0\]: is in the message format's shape; here a tool is \{"type": "function", .*\. Requests in the message format go to POST \/v1\/messages$/,
    ],
    [
      "tools[0]",
      { tools: [{ type: "custom", ...MESSAGES_TOOL }] },
      /"parameters"/,
    ],
    [
      "messages[0].content[0]",
      messagesOf(user(imageAt("https://a.example/b.png"))),
      /here a picture is \{"type": "image_url"/,
    ],
    [
      "messages[0].content[0]",
      messagesOf(user(toolResult("c", "1"))),
      /role "tool" and tool_call_id/,
    ],
    [
      "messages[1].content[0]",
      messagesOf(TURN, assistant(toolUse("c"))),
      /tool_calls/,
    ],
  ];
  for (const [param, fields, message] of rows) {
    await t.step(param, () => {
      const error = refusal(decodeChat, fields);
      assert.equal(error.details.param, param);
      assert.match(error.message, message);
    });
  }
});

Deno.test("a chat request's tool_choice in the message format's shape is accepted", () => {
  const { toolChoice } = atOnce(decodeChat({
    model: "m",
    messages: [TURN],
    tools: [CHAT_TOOL],
    tool_choice: { type: "any" },
  }));
  assert.deepEqual(toolChoice, { type: "required" });
});

Deno.test("neither format mistakes its own or a newer shape for the other's", () => {
  const body = { model: "m", max_tokens: 5, messages: [TURN] };
  atOnce(decodeMessages({
    ...body,
    tools: [MESSAGES_TOOL, { type: "web_search_20250305", name: "web_search" }],
    tool_choice: { type: "any" },
  }));
  atOnce(decodeChat({
    ...body,
    tools: [
      CHAT_TOOL,
      { type: "custom", custom: { name: "g" } },
      { type: "openrouter:web_search" },
    ],
    tool_choice: "any",
  }));
});
