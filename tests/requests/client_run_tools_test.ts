/** Tools and items of the Responses format that the client runs itself, at models of others. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { frameData } from "../support/clients/looping_clients.ts";
import { COMPLETION } from "../support/upstreams/host_upstream.ts";
import { MODEL, withPreset } from "../support/with_preset.ts";

const SEARCH = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
};
const FOUND = {
  type: "namespace",
  name: "crm",
  description: "Customers.",
  tools: [{
    type: "function",
    name: "list_orders",
    description: "Lists orders.",
    defer_loading: true,
    parameters: { type: "object", properties: {} },
  }],
};
const HISTORY = [
  { role: "user", content: "Which orders are there?" },
  {
    type: "tool_search_call",
    id: "tsc_1",
    call_id: "call_1",
    execution: "client",
    status: "completed",
    arguments: { query: "orders" },
  },
  {
    type: "tool_search_output",
    id: "tso_1",
    call_id: "call_1",
    execution: "client",
    status: "completed",
    tools: [FOUND],
  },
];

function request(fields: JsonObject): JsonObject {
  return { model: MODEL, store: false, ...fields };
}

Deno.test("a search that the client runs is a function, its output a result, and what it found is offered", () =>
  withPreset(undefined, async (gateway, host) => {
    const response = await gateway.post(
      "/v1/responses",
      request({ tools: [SEARCH], input: HISTORY }),
    );
    assert.equal(response.status, 200, await response.text());
    assert.equal(response.headers.get("x-gateway-dropped"), null);
    const { tools, messages } = JSON.parse(host.requests[0]?.text ?? "");
    assert.deepEqual(
      tools.map(({ function: { name } }: { function: JsonObject }) => name),
      ["tool_search", "crm__list_orders"],
    );
    assert.equal(tools[0].function.description, SEARCH.description);
    const [, call, result] = messages;
    assert.deepEqual(call.tool_calls[0].function, {
      name: "tool_search",
      arguments: '{"query":"orders"}',
    });
    assert.equal(result.tool_call_id, call.tool_calls[0].id);
    assert.match(result.content, /list_orders: Lists orders\./);
  }));

for (const stream of [false, true]) {
  Deno.test(`a model's call of the search is an item that the client knows (${stream ? "streamed" : "whole"})`, () =>
    withPreset(undefined, async (gateway, host) => {
      const call = {
        id: "call_9",
        type: "function",
        function: { name: "tool_search", arguments: '{"query":"x"}' },
      };
      host.answer(() =>
        Response.json({
          ...COMPLETION,
          choices: [{
            index: 0,
            message: { role: "assistant", content: null, tool_calls: [call] },
            finish_reason: "tool_calls",
          }],
        })
      );
      const response = await gateway.post(
        "/v1/responses",
        request({ stream, tools: [SEARCH], input: "Which orders?" }),
      );
      const text = await response.text();
      const reply = stream
        ? frameData(text).find(({ type }) => type === "response.completed")
          ?.["response"]
        : JSON.parse(text);
      const [item] = (reply as { output: readonly JsonObject[] }).output;
      const { id: _, ...rest } = item ?? {};
      assert.deepEqual(rest, {
        type: "tool_search_call",
        status: "completed",
        call_id: "call_9",
        execution: "client",
        arguments: { query: "x" },
      });
      assert.doesNotMatch(text, /function_call_arguments/);
    }));
}

Deno.test("a message between agents is a user's turn", () =>
  withPreset(undefined, async (gateway, host) => {
    const response = await gateway.post(
      "/v1/responses",
      request({
        input: [{
          type: "agent_message",
          author: "/root",
          recipient: "/root/alpha",
          content: [
            { type: "input_text", text: "Message Type: NEW_TASK" },
            {
              type: "encrypted_content",
              encrypted_content: "Reply with ALPHA.",
            },
          ],
        }],
      }),
    );
    assert.equal(response.status, 200, await response.text());
    const { messages } = JSON.parse(host.requests[0]?.text ?? "");
    assert.deepEqual(messages, [{
      role: "user",
      content:
        "Message from /root to /root/alpha:\nMessage Type: NEW_TASK\nReply with ALPHA.",
    }]);
  }));
